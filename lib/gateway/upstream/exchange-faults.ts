/** A time limit of the exchange ran out; `code` names which. */
export class ExchangeTimeout extends Error {
  readonly code: 'FIRST_BYTE_TIMEOUT' | 'FIRST_WORD_TIMEOUT' | 'IDLE_TIMEOUT' | 'TOTAL_TIMEOUT';
  constructor(code: ExchangeTimeout['code']) {
    super(code);
    this.code = code;
  }
}

/** The provider answered with a status above 599, which not every host can pass on. */
export class UnknownStatus extends Error {
  readonly code = 'HPE_INVALID_STATUS';
}

/** A 2xx whose body starts neither JSON nor an event stream, such as an HTML error page or an empty body. */
export class UnreadableAnswer extends Error {
  readonly code = 'UNREADABLE_ANSWER';
}

/** A 2xx whose contents are not the answer that it should be (contract: routing/unusable-answer). */
export class UnusableAnswer extends Error {
  readonly code: 'ERROR_IN_ANSWER' | 'EMPTY_ANSWER' | 'CUT_ANSWER';
  constructor(state: 'error' | 'empty' | 'cut') {
    super(`the answer is no answer: ${state}`);
    this.code = ({ error: 'ERROR_IN_ANSWER', empty: 'EMPTY_ANSWER', cut: 'CUT_ANSWER' } as const)[state];
  }
}
