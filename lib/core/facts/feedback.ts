/** From this score on, an answer is good; below, it is bad (contract: call-log/feedback-figures). */
export const goodScore = 0.5;
