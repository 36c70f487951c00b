// Bugs of the recipes about members: nodes that come back, groups, shared items, services.
import type { PlantedBug } from '../planted-bug.ts'

const tests = 'test/recipes/members'
const sources = 'src/recipes/members'
const loop = { file: `${sources}/session-loop.ts`, caughtBy: `${tests}/persistent-ephemeral.test.ts` }
const node = { file: `${sources}/persistent-ephemeral.ts`, caughtBy: `${tests}/persistent-ephemeral.test.ts` }
const wanted = { file: `${sources}/wanted-node.ts`, caughtBy: `${tests}/persistent-ephemeral.test.ts` }
const children = { file: `${sources}/children-view.ts`, caughtBy: `${tests}/membership.test.ts` }
const membership = { file: `${sources}/membership.ts`, caughtBy: `${tests}/membership.test.ts` }
const shares = { file: `${sources}/partition-run.ts`, caughtBy: `${tests}/partitioner.test.ts` }
const simulated = { file: `${sources}/partition-run.ts`, caughtBy: 'test/simulation/partitioner.test.ts' }
const services = { file: `${sources}/services.ts`, caughtBy: `${tests}/services.test.ts` }
const provider = { file: `${sources}/service-provider.ts`, caughtBy: `${tests}/services.test.ts` }

export const membersBugs: readonly PlantedBug[] = [
  {
    ...loop,
    bug: 'a node that cannot be created again is reported at each attempt',
    from: 'if (code !== this.#reported) callLater',
    to: 'callLater',
  },
  {
    ...loop,
    bug: 'setData() waits for ever for a session that has ended',
    from: 'this.#end ??= { error }\n    this.#reject(error)',
    to: 'this.#end ??= { error }',
    caughtBy: `${tests}/persistent-ephemeral-faults.test.ts`,
  },
  {
    ...node,
    bug: 'two processes replace each other’s node for ever',
    from: 'if (!this.#takesOver || loop.hasReached(0)) return changed',
    to: 'if (!this.#takesOver) return changed',
  },
  {
    ...node,
    bug: 'a process replaces the node of another although it should wait',
    from: 'if (!this.#takesOver || loop.hasReached(0)) return changed',
    to: 'if (loop.hasReached(0)) return changed',
  },
  {
    ...node,
    bug: 'a node that another client deletes again and again is created without a pause',
    from: 'if (read === undefined) await pace.wait(signal)',
    to: 'if (read === undefined) await Promise.resolve()',
  },
  {
    ...node,
    bug: 'changes of the data wait as if another client had made them',
    from: "if (next === 'write') await node.write(client, stat)",
    to: '',
  },
  {
    ...node,
    bug: 'the node stays after close()',
    from: 'await retryUntilDone(loop.client, () => this.#node.remove(loop.client))',
    to: '',
  },
  {
    ...wanted,
    bug: 'a second sequential node is created after the reply to the create of the first was lost',
    from: 'this.#path = await this.#findSequential(client)',
    to: 'this.#path = undefined',
    caughtBy: `${tests}/persistent-ephemeral-faults.test.ts`,
  },
  {
    ...wanted,
    bug: 'a sequential node comes back with another number',
    from: "const plainMode = mode === 'ephemeralSequential' ? 'ephemeral' : mode",
    to: 'const plainMode = mode',
  },
  {
    ...children,
    bug: 'changes during a lost connection are missed',
    from: 'this.#isAllStale = true\n        this.#markList()',
    to: 'this.#isAllStale = true',
  },
  {
    ...children,
    bug: 'new data is not noticed after a lost connection',
    from: 'if (isAllStale || !this.#children.has(name))',
    to: 'if (!this.#children.has(name))',
  },
  {
    ...children,
    bug: 'new data is not noticed on servers before 3.6',
    from: 'this.#watching(() => this.#mark(name))',
    to: '{ signal: this.#signal }',
  },
  {
    ...membership,
    bug: 'join() resolves before the member is in the list',
    from: 'await this.#untilListed(node.path, client.sessionId, signal)',
    to: 'signal.throwIfAborted()',
  },
  {
    ...membership,
    bug: 'a member that left and joined again between two reads is no change',
    from: 'others.get(node.name)?.stat.czxid !== node.stat.czxid',
    to: '!others.has(node.name)',
  },
  {
    ...shares,
    bug: 'an item passes on although its task still runs',
    from: 'await this.#task(held)\n',
    to: 'await Promise.race([this.#task(held), aborted(held.signal)])\n',
  },
  {
    ...shares,
    bug: 'all items move while the node of a member is missing',
    from: '[...members.add(id)]',
    to: '[...members]',
  },
  {
    ...shares,
    bug: 'an item is released and taken again and again when its task returns early',
    from: 'await aborted(held.signal)\n',
    to: '',
  },
  {
    ...shares,
    bug: 'a partitioner goes on when its session has ended',
    from: "this.#client.on('state', onState)",
    to: '',
  },
  {
    ...shares,
    bug: 'an item that was lost is not taken again',
    from: 'while (this.#isWanted) {',
    to: 'if (this.#isWanted) {',
  },
  {
    ...simulated,
    file: `${sources}/partitioner.ts`,
    bug: 'each member has a lock of its own for an item',
    from: "join(join(this.path, 'owners'), nodeNameOf(item))",
    to: "join(join(this.path, 'owners'), nodeNameOf(item + this.id))",
  },
  {
    bug: 'most items move when a member joins',
    file: `${sources}/rendezvous.ts`,
    from: 'const score = mix(itemHash ^ hash)',
    to: 'const score = mix((itemHash ^ hash) + hashed.length)',
    caughtBy: `${tests}/rendezvous.test.ts`,
  },
  {
    ...services,
    bug: 'an instance whose registration failed comes back in the next session',
    from: 'this.#nodes.delete(path)\n      throw error',
    to: 'throw error',
  },
  {
    ...provider,
    bug: 'changes() of a closed provider waits for ever',
    from: 'if (this.#isClosed) return\n',
    to: '',
  },
  {
    ...provider,
    bug: 'a provider chooses instances that are not enabled',
    from: 'enabled && !this.isDown(id)',
    to: 'enabled !== undefined && !this.isDown(id)',
  },
  {
    ...provider,
    bug: 'an instance with errors is down for ever',
    from: 'if (since <= first) this.#errors.delete(each)',
    to: 'if (since < 0) this.#errors.delete(each)',
  },
  {
    ...provider,
    bug: 'a node whose data is no instance is reported at each look',
    from: 'this.#decoded.set(child, instance)',
    to: '',
  },
]
