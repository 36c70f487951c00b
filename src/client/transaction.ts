// A multi that is built one call at a time.
import { badArguments } from '../protocol/index.ts'
import { copyOfACL } from './acl.ts'
import type { MultiOp, MultiResult } from './multi.ts'
import {
  checked,
  copyOf,
  createOptionsProblem,
  itemCreateChecks,
  itemVersionChecks,
  signalChecks,
  type Data,
  type ItemCreateOptions,
  type ItemVersionOptions,
  type SignalOption,
} from './validation.ts'

/** Sends the operations as one multi. */
export type Commit = (ops: readonly MultiOp[], options: SignalOption) => Promise<MultiResult[]>

/**
 * Operations that `commit` sends as one multi: the server executes all of them, or none. Nothing is sent before
 * `commit`. Each method returns the transaction, so that calls can be chained. A method throws BADARGUMENTS if an
 * option is invalid; invalid paths and data make `commit` reject.
 * @example
 * const { stat } = await zk.create('/a', 'v1')
 * const transaction = zk.transaction().check('/a', stat.version).create('/b').setData('/a', 'v2')
 * const results = await transaction.commit()
 * results.length // => 3
 */
export class Transaction {
  readonly #commit: Commit
  readonly #ops: MultiOp[] = []
  #isCommitted = false

  constructor(commit: Commit) {
    this.#commit = commit
  }

  /**
   * Adds the creation of a node.
   * @throws ZooKeeperError BADARGUMENTS if an option is invalid
   * @example
   * await zk.transaction().create('/app', 'v1', { mode: 'ephemeral' }).commit()
   * const { data } = await zk.getData('/app')
   * data?.toString() // => 'v1'
   */
  create(path: string, data: Data = '', options: ItemCreateOptions = {}): this {
    const problem = createOptionsProblem(options, itemCreateChecks)
    if (problem !== undefined) throw badArguments('create', path, problem)
    const { mode = 'persistent', acl, ttl } = options
    return this.#add({ create: path, data: copyOf(data), mode, acl: copyOfACL(acl), ttl })
  }

  /**
   * Adds the replacement of the data of a node. Default version: any.
   * @throws ZooKeeperError BADARGUMENTS if an option is invalid
   * @example
   * await zk.transaction().create('/app', 'v1').setData('/app', 'v2', { version: 0 }).commit()
   * const { data } = await zk.getData('/app')
   * data?.toString() // => 'v2'
   */
  setData(path: string, data: Data, options: ItemVersionOptions = {}): this {
    const { version = -1 } = checked('setData', path, options, itemVersionChecks)
    return this.#add({ setData: path, data: copyOf(data), version })
  }

  /**
   * Adds the deletion of a node. Default version: any.
   * @throws ZooKeeperError BADARGUMENTS if an option is invalid
   * @example
   * await zk.ensurePath('/app/a')
   * await zk.transaction().delete('/app/a').delete('/app').commit()
   * await zk.exists('/app') // => null
   */
  delete(path: string, options: ItemVersionOptions = {}): this {
    const { version = -1 } = checked('delete', path, options, itemVersionChecks)
    return this.#add({ delete: path, version })
  }

  /**
   * Adds a check. The transaction fails unless the node exists and has this version.
   * @param expected the version, or options. Default: any version
   * @throws ZooKeeperError BADARGUMENTS if an option is invalid
   * @example
   * await zk.create('/app')
   * await zk.transaction().check('/app', 7).delete('/app').commit() // throws BADVERSION
   */
  check(path: string, expected: number | ItemVersionOptions = {}): this {
    const options = typeof expected === 'number' ? { version: expected } : expected
    const { version = -1 } = checked('check', path, options, itemVersionChecks)
    return this.#add({ check: path, version })
  }

  /**
   * Sends the transaction. Resolves to one result for each operation, in their order, as `multi`. May be called only
   * once.
   * @throws MultiError if the server rejected an operation; then it executed none
   * @throws ZooKeeperError BADARGUMENTS if an operation is invalid, or the transaction was committed before
   * @example
   * const results = await zk.transaction().create('/app').delete('/app').commit()
   * results.map(result => result && 'path' in result) // => [true, undefined]
   */
  commit(options: SignalOption = {}): Promise<MultiResult[]> {
    try {
      checked('commit', '', options, signalChecks)
      if (this.#isCommitted)
        throw badArguments(
          'commit',
          '',
          'this transaction was committed before; create another with client.transaction()',
        )
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
