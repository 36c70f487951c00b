/**
 * The extra time in ms that a test allows before it calls a result in real time too late, because the machine may be
 * busy. A faulty client must be later than that, or never finish, so that the test still detects it.
 */
export const LOAD_ALLOWANCE = 10_000
