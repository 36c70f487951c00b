/**
 * Milliseconds that a bound in real time allows in addition, because the machine may be busy. The next possible wrong
 * result must be later than that, or never happen.
 */
export const LOAD_ALLOWANCE = 10_000
