// Makes values with bigints fit for JSON, which has no 64-bit integers.

const descriptors: PropertyDescriptorMap = {
  // For util.inspect(), which then shows a plain object.
  constructor: { value: Object },
  toJSON: {
    value(this: object): object {
      const writable = (value: unknown) => (typeof value === 'bigint' ? String(value) : value)
      return Object.fromEntries(Object.entries(this).map(([name, value]) => [name, writable(value)]))
    },
  },
}
const prototype = Object.create(Object.prototype, descriptors) as object

/**
 * Makes JSON.stringify write the bigints of a class' objects as decimal strings, because otherwise it would throw. The
 * objects look like plain ones.
 */
export const makeJsonSafe = (type: abstract new (...args: never) => object): unknown =>
  Object.defineProperties(type.prototype, descriptors)

/**
 * Does the same for one object, and returns it. V8 needs five times as long to change the prototype of an object as to
 * create a Stat of a class (tried on Node 20).
 */
export const jsonSafe = <T extends object>(value: T): T => Object.setPrototypeOf(value, prototype) as T
