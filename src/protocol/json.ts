// Makes values with bigints fit for JSON, which has no 64-bit integers.

/** Has `constructor` as its own property, so that util.inspect shows a plain object. */
const jsonSafePrototype = Object.create(Object.prototype, {
  constructor: { value: Object },
  toJSON: {
    value(this: object): object {
      const writable = (value: unknown) => (typeof value === 'bigint' ? String(value) : value)
      return Object.fromEntries(Object.entries(this).map(([name, value]) => [name, writable(value)]))
    },
  },
}) as object

/**
 * Makes JSON.stringify write the bigints of an object as decimal strings, because otherwise it would throw. Returns the
 * object.
 */
export const jsonSafe = <T extends object>(value: T): T => Object.setPrototypeOf(value, jsonSafePrototype) as T
