// A multi, built call by call.
import { badArguments } from '../protocol/index.ts'
import { openACL } from './acl.ts'
import type { MultiOp, MultiResult } from './multi.ts'
import {
  checked,
  createChecks,
  signalChecks,
  versionChecks,
  type CreateOptions,
  type Data,
  type SignalOption,
  type VersionOptions,
} from './validation.ts'

type ItemVersion = Pick<VersionOptions, 'version'>
const itemChecks = { version: versionChecks.version }
const { mode, acl, ttl } = createChecks
const itemCreateChecks = { mode, acl, ttl }

/** How a transaction is sent: by the multi of its client. */
export type Commit = (ops: readonly MultiOp[], options: SignalOption) => Promise<MultiResult[]>

/**
 * Operations that are done all or none, in one commit. Nothing is sent before `commit`, which also rejects paths and data
 * that cannot be accepted. Options that cannot be accepted throw BADARGUMENTS at once.
 */
export class Transaction {
  readonly #commit: Commit
  readonly #ops: MultiOp[] = []
  #isCommitted = false

  constructor(commit: Commit) {
    this.#commit = commit
  }

  create(path: string, data: Data = '', options: Omit<CreateOptions, 'signal' | 'parents'> = {}): this {
    const { mode = 'persistent', acl = openACL, ttl } = checked('create', path, options, itemCreateChecks)
    return this.#add({ create: path, data, mode, acl, ...(ttl !== undefined && { ttl }) })
  }

  setData(path: string, data: Data, options: ItemVersion = {}): this {
    const { version = -1 } = checked('setData', path, options, itemChecks)
    return this.#add({ setData: path, data, version })
  }

  delete(path: string, options: ItemVersion = {}): this {
    const { version = -1 } = checked('delete', path, options, itemChecks)
    return this.#add({ delete: path, version })
  }

  /**
   * The transaction is done only if the node exists, with this version.
   * @param expected the version, or options; default any version
   */
  check(path: string, expected: number | ItemVersion = {}): this {
    const options = typeof expected === 'number' ? { version: expected } : expected
    const { version = -1 } = checked('check', path, options, itemChecks)
    return this.#add({ check: path, version })
  }

  /**
   * Sends the transaction, once. Resolves to one result for each operation, in their order.
   * @throws MultiError if an operation was refused: nothing was done then; ZooKeeperError BADARGUMENTS if the transaction
   * was committed before
   */
  commit(options: SignalOption = {}): Promise<MultiResult[]> {
    try {
      checked('commit', '', options, signalChecks)
      if (this.#isCommitted)
        throw badArguments('commit', '', 'this transaction was committed before: make another by client.transaction()')
    } catch (error) {
      return Promise.reject(error)
    }
    this.#isCommitted = true
    return this.#commit(this.#ops, options)
  }

  #add(op: MultiOp): this {
    this.#ops.push(op)
    return this
  }
}
