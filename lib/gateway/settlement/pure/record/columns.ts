/** PostgreSQL's numbers of the types that a row of a call is made of; they are the same in every database. */
export const typeIds = {
  bool: 16,
  bigint: 20,
  int: 23,
  text: 25,
  json: 114,
  real: 700,
  'text[]': 1009,
  timestamptz: 1184,
  uuid: 2950,
} as const;

type Column = readonly [name: string, type: keyof typeof typeIds];

/** What is known of a call from its start: the first columns of its row. */
export const openColumns = [
  ['id', 'uuid'],
  ['at', 'timestamptz'],
  ['hold_nano', 'bigint'],
  ['streamed', 'bool'],
  ['workspace_id', 'uuid'],
  ['key_id', 'uuid'],
  ['family', 'text'],
  ['operation', 'text'],
  ['requested_model', 'text'],
  ['user_agent', 'text'],
  ['client_request_id', 'text'],
] as const satisfies readonly Column[];

/** The columns of a row in the order in which it is written: those of the type `call_record`. */
export const callColumns = [
  ...openColumns,
  ['status', 'int'],
  ['latency_ms', 'int'],
  ['overhead_ms', 'real'],
  ['cost_nano', 'bigint'],
  ['first_byte_ms', 'int'],
  ['answering_model', 'text'],
  ['provider', 'text'],
  ['price_version_id', 'uuid'],
  ['error_code', 'text'],
  ['end_reason', 'text'],
  ['usage_source', 'text'],
  ['flags', 'text[]'],
  ['usage', 'json'],
  ['lines', 'json'],
  ['attempts', 'json'],
] as const satisfies readonly Column[];

export type CallColumn = (typeof callColumns)[number][0];
