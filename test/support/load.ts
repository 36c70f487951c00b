/**
 * What a bound in real time allows a busy machine beyond what is right, in milliseconds: the next wrong answer has to be later still, or never
 * to come.
 */
export const LOAD_ALLOWANCE = 10_000
