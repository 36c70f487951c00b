// A multi, written call by call.
import type { CreateOptions, Data } from './arguments.ts'
import type { MultiOp, MultiResult } from './multi.ts'

/** Operations that are done all or none. Nothing is sent before `commit`. */
export class Transaction {
  readonly #commit: (ops: readonly MultiOp[]) => Promise<MultiResult[]>
  readonly #ops: MultiOp[] = []

  constructor(commit: (ops: readonly MultiOp[]) => Promise<MultiResult[]>) {
    this.#commit = commit
  }

  create(path: string, data: Data = '', options: CreateOptions = {}): this {
    return this.#add({ create: path, data, ...options })
  }

  setData(path: string, data: Data, { version = -1 }: { version?: number } = {}): this {
    return this.#add({ setData: path, data, version })
  }

  delete(path: string, { version = -1 }: { version?: number } = {}): this {
    return this.#add({ delete: path, version })
  }

  /** Makes the whole depend on a node being there, at that version. */
  check(path: string, { version = -1 }: { version?: number } = {}): this {
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
