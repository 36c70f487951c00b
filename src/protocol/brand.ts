// Recognizes the errors of other copies of this package in the process: its ES modules, its CommonJS modules, or another
// version.

/**
 * Makes `instanceof` true for the instances of all copies of a class. A subclass that has no brand of its own is
 * recognized by its prototype, as usual.
 * @param name the name of the class, which a minifier may change
 */
export function brand(constructor: abstract new (...args: never) => object, name: string): void {
  const key = Symbol.for(`zkwire.${name}`)
  Object.defineProperty(constructor.prototype, key, { value: true })
  const byPrototype = Reflect.get(constructor, Symbol.hasInstance) as (value: unknown) => boolean
  Object.defineProperty(constructor, Symbol.hasInstance, {
    value(this: unknown, value: unknown): boolean {
      if (this !== constructor) return Reflect.apply(byPrototype, this, [value])
      return typeof value === 'object' && value !== null && key in value
    },
  })
}
