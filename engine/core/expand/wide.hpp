#pragma once

namespace wa {

__extension__ using Wide = __int128;  // for sums that a hostile plan could overflow

}  // namespace wa
