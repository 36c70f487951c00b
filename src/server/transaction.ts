// One step of the tree: all of it happens, or nothing.
import type { ACL, eventTypes } from '../protocol/index.ts'

/** What a watch may be told of. That its parent's children changed follows from a node's coming and going. */
export interface TreeChange {
  type: (typeof eventTypes)['NodeCreated' | 'NodeDeleted' | 'NodeDataChanged']
  path: string
  /** The node's list, and its parent's: who may not read them is told nothing (CVE-2024-23944). */
  acl: readonly ACL[]
  parentACL: readonly ACL[]
}

export class TreeTransaction {
  readonly zxid: bigint
  /** Milliseconds by the calendar: the ctime or mtime of what it changes. */
  readonly time: number
  /** By parent: the number for its next sequential child, where this has created children below it. */
  readonly counters = new Map<object, number>()
  readonly #changes: TreeChange[] = []
  readonly #undo: (() => void)[] = []
  #isUndone = false

  constructor(zxid: bigint, time: number) {
    this.zxid = zxid
    this.time = time
  }

  /** What it changed, in order: watches hear of it once all is done. */
  get changes(): readonly TreeChange[] {
    return this.#changes
  }

  /** Something is done, and `undo` would take it back. */
  record(undo: () => void, change?: TreeChange): void {
    this.#undo.push(undo)
    if (change !== undefined) this.#changes.push(change)
  }

  /** It was refused in its middle: nothing of it is done. */
  get rolledBack(): boolean {
    return this.#isUndone
  }

  rollBack(): void {
    this.#isUndone = true
    for (const undo of this.#undo.splice(0).reverse()) undo()
    this.#changes.length = 0
  }
}
