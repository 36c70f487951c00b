// Several nodes of one contender, such as those of a call that takes several permits.
import { OwnNode, type Node, type NodePlan } from './own-node.ts'

/**
 * Several nodes of one contender, which are created and removed together. `node` is the one that is created last.
 */
export class OwnNodes extends OwnNode {
  readonly #earlier: readonly OwnNode[]

  constructor(plan: NodePlan, earlier: readonly OwnNode[]) {
    super(plan)
    this.#earlier = earlier
  }

  override get nodes(): readonly Node[] {
    return [...this.#earlier.map(({ node }) => node), this.node]
  }

  /** Creates all nodes. Their requests and that of `read` are sent together, so what is read includes all of them. */
  override async create<T>(read: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const earlier = this.#earlier.map(each => each.create(() => Promise.resolve(), signal))
    const last = super.create(read, signal)
    // Waits for all, also if one fails, so that the caller can remove those that were created.
    await settled([...earlier, last])
    return last
  }

  override async remove(): Promise<void> {
    await settled([...this.#earlier.map(each => each.remove()), super.remove()])
  }
}

/** Waits until all have ended, and then throws the first error. */
async function settled(all: readonly Promise<unknown>[]): Promise<void> {
  await Promise.allSettled(all)
  await Promise.all(all)
}
