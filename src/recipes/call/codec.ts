// The option `codec`: converts between the values of a program and the data of nodes.
import { newDataProblem } from '../../client/recipe-support.ts'
import { badArguments, isCode, ZooKeeperError } from '../../protocol/index.ts'
import { mustBe } from '../../options/checks.ts'
import { isPromise, isStrayPromise } from '../../runtime/callbacks.ts'
import type { Data } from '../../client/index.ts'
import { RecipeError } from './recipe-error.ts'

/**
 * Converts values to the data of a node, and back. Both functions return their result at once, and not a promise.
 * @example
 * const dates: DataCodec<Date> = {
 *   encode: date => date.toISOString(),
 *   decode: bytes => new Date(bytes.toString()),
 * }
 * const started = new SharedValue(zk, '/started', { codec: dates, initial: new Date(0) })
 * await started.set(new Date(2026, 0))
 * await started.get().then(({ data }) => data.getFullYear()) // => 2026
 */
export interface DataCodec<T> {
  /** Gets a value, and returns its bytes or its text. */
  encode(value: T): Uint8Array | string
  /** Gets the bytes of a node, which are none if it has no data. Throws if they are no value. */
  decode(bytes: Buffer): T
}

/**
 * A validator that implements the Standard Schema (https://standardschema.dev), version 1, as those of Zod, Valibot and
 * ArkType do. Where it is a `codec`, the data of a node is the JSON of what was written, and what is read is what the
 * validator returns for it. It must return at once, and not a promise.
 * @example
 * const port: StandardSchema<number> = {
 *   '~standard': {
 *     version: 1,
 *     vendor: 'example',
 *     validate: value => (typeof value === 'number' ? { value } : { issues: [{ message: 'it is no number' }] }),
 *   },
 * }
 * const value = new SharedValue(zk, '/port', { codec: port, initial: 8080 })
 * await value.get().then(({ data }) => data + 1) // => 8081
 * await value.set('80' as never) // throws BADARGUMENTS
 */
export interface StandardSchema<In = unknown, T = In> {
  /** The properties that the Standard Schema prescribes. */
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    validate(value: unknown): Validation<T> | Promise<Validation<T>>
    readonly types?: { readonly input: In; readonly output: T } | undefined
  }
}

type Validation<T> =
  { readonly value: T; readonly issues?: undefined } | { readonly issues: readonly ValidationIssue[] }

interface ValidationIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** What may be written where values of type T are read: without a codec, all that can be data. */
export type Written<T> = [T] extends [Buffer | null] ? Data : T

/** Keeps the compiler from inferring a type by this use of it. TypeScript has its own NoInfer since 5.4 only. */
export type NotInferred<T> = [T][T extends unknown ? 0 : never]

export type Schema = StandardSchema

const isSchema = (value: unknown): value is Schema =>
  ['object', 'function'].includes(typeof value) &&
  typeof (value as Partial<Schema> | null)?.['~standard']?.validate === 'function'

const isCodec = (value: Partial<DataCodec<never>> | null) =>
  typeof value?.encode === 'function' && typeof value.decode === 'function'

export const aCodec = mustBe('an object with the functions encode and decode', isCodec)
export const aSchema = mustBe('a Standard Schema', isSchema)
export const aCodecOrSchema = mustBe(
  'an object with the functions encode and decode, or a Standard Schema',
  value => isSchema(value) || isCodec(value),
)

/**
 * Returns what a function of the caller's options has returned.
 * @throws ZooKeeperError BADARGUMENTS if that is a promise, for which the recipe cannot wait
 */
export function checkedResult<T>(recipe: string, option: string, path: string, result: T | Promise<T>): T {
  if (!isStrayPromise(result)) return result as T
  throw badArguments(recipe, path, `the function ${option} must return its result, and not a promise`)
}

/** Converts the values of one recipe. Without a codec, they are the data itself. */
export class Conversion<T, In> {
  readonly #recipe: string
  readonly #path: string
  readonly #codec: DataCodec<unknown> | undefined

  constructor(recipe: string, path: string, codec: DataCodec<T> | StandardSchema<In, T> | undefined) {
    this.#recipe = recipe
    this.#path = path
    // A validator may have functions of these names for another purpose, as those of Zod.
    this.#codec = isSchema(codec) ? jsonOf(codec) : codec
  }

  /**
   * Returns data that the caller cannot change. Decodes it too, so that nothing is sent that nobody could read.
   * @param op the method's name, for errors
   * @param what names the value in errors
   * @throws ZooKeeperError BADARGUMENTS
   */
  encode(op: string, value: In, what = ''): Buffer | null {
    const refuse = (detail: string, cause?: unknown) => {
      const context = { op, path: this.#path, fate: 'notSent', detail: what + detail, cause } as const
      return new ZooKeeperError('BADARGUMENTS', context)
    }
    if (this.#codec === undefined) {
      const problem = newDataProblem(value)
      if (problem !== undefined) throw refuse(problem)
      return value === null ? null : Buffer.from(value as Uint8Array)
    }
    try {
      const encoded = checkedResult(this.#recipe, 'codec.encode', this.#path, this.#codec.encode(value))
      if (typeof encoded !== 'string' && !((encoded as unknown) instanceof Uint8Array))
        throw new TypeError(`encode() must return a Uint8Array or a string, not ${typeof encoded}`)
      const data = Buffer.from(encoded as Uint8Array)
      this.#decode(data)
      return data
    } catch (error) {
      if (isCode(error, 'BADARGUMENTS')) throw error
      throw refuse(`the codec refuses it: ${messageOf(error)}`, error)
    }
  }

  /**
   * Returns the data of a node for which the caller has given no value: none. A codec must be able to decode that.
   * @param option that is missing
   * @throws ZooKeeperError BADARGUMENTS
   */
  encodeOption(option: string, value: In | undefined): Buffer | null {
    if (value !== undefined) return this.encode(this.#recipe, value, `${option}: `)
    const none = Buffer.alloc(0)
    try {
      if (this.#codec !== undefined) this.#decode(none)
    } catch (error) {
      if (isCode(error, 'BADARGUMENTS')) throw error
      throw badArguments(
        this.#recipe,
        this.#path,
        `${option} is missing, and the codec cannot decode a node without data`,
      )
    }
    return none
  }

  /**
   * @param path the node
   * @throws RecipeError UNSUPPORTED if the codec refuses the data; ZooKeeperError BADARGUMENTS if it returns a promise
   */
  decode(data: Buffer | null, path = this.#path): T {
    if (this.#codec === undefined) return data as T
    try {
      return this.#decode(data ?? Buffer.alloc(0)) as T
    } catch (error) {
      if (isCode(error, 'BADARGUMENTS')) throw error
      const detail = `the codec refuses the data of the node: ${messageOf(error)}`
      throw new RecipeError('UNSUPPORTED', path, { detail, cause: error })
    }
  }

  #decode(data: Buffer): unknown {
    return checkedResult(this.#recipe, 'codec.decode', this.#path, (this.#codec as DataCodec<unknown>).decode(data))
  }
}

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Returns the codec that writes JSON, and accepts what a validator accepts. */
const jsonOf = (schema: Schema): DataCodec<unknown> => ({
  encode: value => JSON.stringify(value),
  decode: bytes => validated(schema, parsed(bytes)),
})

/**
 * Returns what a validator makes of a value, which may be a promise: see {@link atOnce}.
 * @throws Error that says what is wrong with the value
 */
export function validated(schema: Schema, value: unknown): unknown {
  const validation: unknown = schema['~standard'].validate(value)
  if (isPromise(validation)) return validation
  const result = Object(validation) as Partial<Validation<unknown>>
  const { issues } = result
  if (issues) throw new Error(issues.map(sentenceOf).join('; ') || 'the validator does not say why', { cause: issues })
  // Otherwise undefined would take the place of each value.
  if (!('value' in result)) throw new Error('the validator must return a value or issues at once')
  return result.value
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString())
  } catch {
    // The error of JSON.parse() repeats the data, which may be a secret.
    throw new Error('it is no JSON')
  }
}

function sentenceOf({ message, path }: ValidationIssue): string {
  const keys = (path ?? []).map(each => String(typeof each === 'object' ? each.key : each))
  return keys.length === 0 ? message : `${keys.join('.')}: ${message}`
}
