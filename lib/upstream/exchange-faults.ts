/** A time limit of the exchange ran out; `code` names which. */
export class ExchangeTimeout extends Error {
  readonly code: 'FIRST_BYTE_TIMEOUT' | 'IDLE_TIMEOUT' | 'TOTAL_TIMEOUT';
  constructor(code: 'FIRST_BYTE_TIMEOUT' | 'IDLE_TIMEOUT' | 'TOTAL_TIMEOUT') {
    super(code);
    this.code = code;
  }
}

/** The provider answered with a status above 599, which not every host can pass on. */
export class UnknownStatus extends Error {
  readonly code = 'HPE_INVALID_STATUS';
}
