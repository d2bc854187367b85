#include "core/record_kind.h"

const uint8_t data_time_rules[DATA_TIMES] = {
    [OPEN_START... CLOSE_START] = RULE_FIRST,
    [OPEN_END... CLOSE_END] = RULE_MAX,
    [MAX_READ_TIME... VARIANCE_RANK_BYTES] = RULE_ELSEWHERE,
};
