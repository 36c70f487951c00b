// A transaction that is executed exactly once, even if its reply is lost. It also creates a marker: an ephemeral node
// with a uuid in its name. The marker exists only if the transaction was executed.
import { newUuid, unlessRefused } from '../../client/recipe-support.ts'
import { isCode, join, ZooKeeperError, type ACL } from '../../protocol/index.ts'
import type { Client, MultiOp, MultiResult } from '../../client/index.ts'
import { retryUntilDone } from '../call/retry-until-done.ts'

export class MarkedMulti {
  readonly #client: Client
  readonly #marker: string
  readonly #acl: readonly ACL[] | undefined
  /** True from the first request until the marker is known not to exist. */
  #mayExist = false

  /** @param directory the parent of the marker. It must exist when the last of the operations has been executed */
  constructor(client: Client, directory: string, acl: readonly ACL[] | undefined) {
    this.#client = client
    this.#marker = join(directory, `marker-${newUuid(client)}`)
    this.#acl = acl
  }

  /**
   * Executes the operations. Resolves with their results, or with undefined if the server has executed them but the
   * reply was lost. Waits through lost connections. May be called again if the operations were refused.
   * @throws MultiError if the server refuses the operations; the signal's reason; ZooKeeperError with the fate `unknown`
   * if the session ends before the client knows whether the server has executed them
   */
  async commit(ops: readonly MultiOp[], signal: AbortSignal): Promise<readonly MultiResult[] | undefined> {
    const client = this.#client
    const marked: readonly MultiOp[] = [...ops, { create: this.#marker, mode: 'ephemeral', acl: this.#acl }]
    let isUncertain = false
    for (;;) {
      signal.throwIfAborted()
      // A request that is queued for a connection may be sent after the caller has given up.
      if (client.state === 'suspended') await client.whenConnected({ signal })
      this.#mayExist = true
      try {
        return await client.multi(marked)
      } catch (error) {
        isUncertain ||= error instanceof ZooKeeperError && error.fate === 'unknown'
        // Also after a refusal, because it may be the effect of an earlier attempt whose reply was lost.
        if (isUncertain && (await this.#isThere())) return undefined
        this.#mayExist = false
        if (!isCode(error, 'CONNECTIONLOSS')) throw error
      }
      await client.whenConnected({ signal })
    }
  }

  /** Deletes the marker. Resolves when it does not exist. */
  async remove(): Promise<void> {
    if (!this.#mayExist) return
    await retryUntilDone(this.#client, () => unlessRefused(this.#client.delete(this.#marker), 'NONODE'))
    this.#mayExist = false
  }

  /** Reads whether the marker exists, after a sync, because the server may lag behind the one that was lost. */
  async #isThere(): Promise<boolean> {
    const client = this.#client
    try {
      const [, stat] = await retryUntilDone(client, () =>
        Promise.all([client.sync(this.#marker), client.exists(this.#marker)]),
      )
      return stat !== null
    } catch (error) {
      // The server refuses exists() without READ permission on a node that exists (ZOOKEEPER-2590: from 3.8.4, 3.9.2 on).
      if (isCode(error, 'NOAUTH')) return true
      if (!(error instanceof ZooKeeperError)) throw error
      const detail = 'the session ended before the client knew whether the server had executed the transaction'
      throw new ZooKeeperError(error.code, { op: 'multi', path: this.#marker, fate: 'unknown', detail, cause: error })
    }
  }
}
