#pragma once

namespace wa {

__extension__ using Wide = __int128;  // for sums that a hostile plan could overflow
__extension__ using UnsignedWide = unsigned __int128;

}  // namespace wa
