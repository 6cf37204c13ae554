import { LONGEST_SLUG } from '#lib/core/schemas/catalogue';
import { ownAnswerSql, ownModel } from '#lib/gateway/settlement/pure/own-answer';

/**
 * The model that usage counts a row of `call` under, as an expression of SQL; `countedModel` of settlement/call-row says
 * the same.
 * @param call "c."; "" for columns without a table.
 */
export function countedModelSql(call = ''): string {
  return `CASE WHEN ${ownAnswerSql(call)} THEN '${ownModel}' ELSE coalesce(${call}answering_model, CASE WHEN ${call}error_code = 'model_not_allowed'
    OR octet_length(${call}requested_model) > ${LONGEST_SLUG} THEN '' ELSE ${call}requested_model END, '') END`;
}
