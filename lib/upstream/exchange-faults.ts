/** A time limit of the exchange ran out; `code` names which. */
export class ExchangeTimeout extends Error {
  readonly code: 'FIRST_BYTE_TIMEOUT' | 'IDLE_TIMEOUT' | 'TOTAL_TIMEOUT';
  constructor(code: 'FIRST_BYTE_TIMEOUT' | 'IDLE_TIMEOUT' | 'TOTAL_TIMEOUT') {
    super(code);
    this.code = code;
  }
}

/** A status beyond those that HTTP knows is no answer: not every host could pass it on. */
export class UnknownStatus extends Error {
  readonly code = 'HPE_INVALID_STATUS';
}
