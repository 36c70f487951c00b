// A multi, written call by call.
import { openACL } from './acl.ts'
import { checked, type CreateOptions, type Data } from './validation.ts'
import type { MultiOp, MultiResult } from './multi.ts'
import type { VersionOptions } from './operations.ts'

/**
 * Operations that are done all or none. Nothing is sent before `commit`, which tells of wrong arguments too; but where something else stands
 * in the place of options, a call throws BADARGUMENTS at once.
 */
export class Transaction {
  readonly #commit: (ops: readonly MultiOp[]) => Promise<MultiResult[]>
  readonly #ops: MultiOp[] = []

  constructor(commit: (ops: readonly MultiOp[]) => Promise<MultiResult[]>) {
    this.#commit = commit
  }

  create(path: string, data: Data = '', options: CreateOptions = {}): this {
    const { mode = 'persistent', acl = openACL, ttl } = checked('create', path, options)
    return this.#add({ create: path, data, mode, acl, ...(ttl !== undefined && { ttl }) })
  }

  setData(path: string, data: Data, options: VersionOptions = {}): this {
    const { version = -1 } = checked('setData', path, options)
    return this.#add({ setData: path, data, version })
  }

  delete(path: string, options: VersionOptions = {}): this {
    const { version = -1 } = checked('delete', path, options)
    return this.#add({ delete: path, version })
  }

  /** Makes the whole depend on a node being there, at that version, which may stand alone. */
  check(path: string, expected: number | VersionOptions = {}): this {
    const options = typeof expected === 'number' ? { version: expected } : expected
    const { version = -1 } = checked('check', path, options)
    return this.#add({ check: path, version })
  }

  /**
   * The results, one for each operation in their order.
   * @throws MultiError where an operation was refused: nothing was done then
   */
  commit(): Promise<MultiResult[]> {
    return this.#commit(this.#ops)
  }

  #add(op: MultiOp): this {
    this.#ops.push(op)
    return this
  }
}
