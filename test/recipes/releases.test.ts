// How everything that is held ends, as one table: what happened before the end, what happens to the requests of the end, and
// what the caller, the holder's signal, the server and the next contender then see.
import { expect } from 'chai'
import { once } from 'node:events'
import { openACL, perms, type Client, type ZooKeeperError } from '../../src/index.ts'
import { parentOf, type ServerErrorCode } from '../../src/protocol/index.ts'
import {
  EphemeralMutex,
  LeaderElection,
  Membership,
  MultiLock,
  Mutex,
  PersistentEphemeral,
  Queue,
  ReadWriteLock,
  ReentrantMutex,
  Services,
  TicketMutex,
  type AcquireOptions,
  type Held,
  type Lock,
  type QueueItem,
  type RecipeError,
} from '../../src/recipes/index.ts'
import { FaultyDial } from '../support/faulty-dial.ts'
import { outcomeOf, trackSettled } from '../support/settled.ts'
import { kindsUnderFaults } from './locks/exclusive-kinds.ts'
import { turns } from '../support/turns.ts'
import { openACLWithout, PATH, Stage, started, type Scene } from './public-calls.ts'

const SESSION_TIMEOUT = 10_000

interface Holding {
  /** The path of its node. */
  node: string
  end: () => Promise<unknown>
  /** Aborts when it is lost. */
  signal?: AbortSignal
}

/** An object that is held, and the call that ends that. */
interface Holder {
  hold: (scene: Scene) => Promise<Holding>
  /** Another process waits for what is held. */
  next?: (scene: Scene) => Promise<Holding>
  /** True for a node that comes back, which has no signal. */
  isGroup?: true
  /** True if the holder watches its node. */
  watches?: true
  /** True if the call rejects with LOST when the object is lost. */
  mustHold?: true
  /** True if the call is that of `use`, which resolves when the lease is over. The release then goes on. */
  isUse?: true
  /** True if the signal aborts also when the lease ends during the call. */
  listensToTheEnd?: true
}

const holdingOf = (held: Held): Holding => ({ node: held.path, signal: held.signal, end: () => held.release() })

const ofLock = (
  own: (client: Client) => Pick<Lock, 'acquire'> | MultiLock,
  rival = own,
  options: AcquireOptions = {},
): Holder => ({
  hold: async ({ client }) => holdingOf(await own(client).acquire(options)),
  next: async ({ other }) => holdingOf(await rival(other).acquire()),
  ...(options.watchOwnNode && { watches: true }),
})

const ofItem = (end: (item: QueueItem) => Promise<void>): Holder['hold'] => {
  return async ({ client, closeLater }) => {
    const queue = closeLater(new Queue(client, PATH))
    await queue.put('x')
    const item = await queue.take()
    return { node: `${PATH}/taken/${item.name}`, signal: item.signal, end: () => end(item) }
  }
}

/** The function of `use` returns at the first end. Another end is needed if the server refuses the first. */
const ofUse = (own: (client: Client) => Pick<Lock, 'acquire' | 'use'>): Holder => ({
  hold: ({ client }) =>
    new Promise(resolve => {
      const leaves = new EventTarget()
      const using = own(client).use(held => {
        let isFirst = true
        const end = () => {
          if (!isFirst) return held.release()
          isFirst = false
          leaves.dispatchEvent(new Event('end'))
          return using
        }
        resolve({ node: held.path, signal: held.signal, end })
        return once(leaves, 'end')
      })
      void outcomeOf(using)
    }),
  next: async ({ other }) => holdingOf(await own(other).acquire()),
  watches: true,
  isUse: true,
})

const lock = '/locks/lock'
const holders: Readonly<Record<string, Holder>> = {
  ...Object.fromEntries(
    kindsUnderFaults.flatMap(({ Lock, Rival = Lock }) => {
      const [own, rival] = [(client: Client) => new Lock(client, lock), (client: Client) => new Rival(client, lock)]
      return [
        [Lock.name, ofLock(own, rival)],
        [`${Lock.name} with watchOwnNode`, ofLock(own, rival, { watchOwnNode: true })],
      ]
    }),
  ),
  'Mutex of kazoo': ofLock(client => new Mutex(client, lock, { dialect: 'kazoo' })),
  // Another node may get the name of its node, so it watches its node without the option.
  'Mutex of zoo_lock': { ...ofLock(client => new Mutex(client, lock, { dialect: 'zookeeper' })), watches: true },
  ReentrantMutex: ofLock(client => new ReentrantMutex(client, lock)),
  MultiLock: ofLock(client => new MultiLock([new Mutex(client, '/locks/other'), new Mutex(client, lock)])),
  'a downgraded lock': {
    hold: async ({ client }) =>
      holdingOf(await (await new ReadWriteLock(client, lock).writeLock.acquire()).downgrade()),
    next: async ({ other }) => holdingOf(await new ReadWriteLock(other, lock).writeLock.acquire()),
  },
  'use of Mutex': ofUse(client => new Mutex(client, lock)),
  'use of TicketMutex': ofUse(client => new TicketMutex(client, lock)),
  LeaderElection: {
    hold: async ({ client }) => holdingOf(await new LeaderElection(client, lock).campaign()),
    next: async ({ other }) => holdingOf(await new LeaderElection(other, lock).campaign()),
    watches: true,
  },
  'QueueItem.release': {
    listensToTheEnd: true,
    hold: ofItem(item => item.release()),
    async next({ other, closeLater }) {
      const item = await closeLater(new Queue(other, PATH)).take()
      return { node: `${PATH}/taken/${item.name}`, end: () => item.complete() }
    },
  },
  'QueueItem.complete': { hold: ofItem(item => item.complete()), mustHold: true, listensToTheEnd: true },
  PersistentEphemeral: {
    async hold({ client }) {
      const node = await started(new PersistentEphemeral('/locks/node'), client)
      return { node: node.path, end: () => node.close() }
    },
    async next({ other }) {
      const node = await started(new PersistentEphemeral('/locks/node', { takeOver: false }), other)
      return { node: node.path, end: () => node.close() }
    },
    isGroup: true,
  },
  Membership: {
    async hold({ client }) {
      const group = await started(new Membership(PATH, { id: 'me' }), client)
      return { node: `${PATH}/me`, end: () => group.close() }
    },
    isGroup: true,
  },
  Registration: {
    async hold({ client, closeLater }) {
      const registration = await (
        await started(closeLater(new Services(PATH)), client)
      ).register({ name: 'api', id: 'a' })
      return { node: `${PATH}/api/a`, end: () => registration.close() }
    },
    isGroup: true,
  },
}

type Act = (stage: Stage, holding: Holding, faultyDial: FaultyDial) => unknown

/** The session ends at the server before the client hears of it. */
function expire({ scene: { client }, server }: Stage): void {
  // A connected session would first be told that its node is deleted.
  server.dropConnections()
  server.expireSession(client.sessionId)
}

async function outliveLease({ server, clock }: Stage): Promise<void> {
  await server.stop()
  await clock.advance(2 * SESSION_TIMEOUT)
}

const befores = {
  nothing: () => undefined,
  'another client has deleted the node': ({ scene }, { node }) => scene.other.delete(node).then(turns),
  'the lease is over, and no server answers': outliveLease,
  'the lease is over, but the session was found alive': async stage => {
    await outliveLease(stage)
    await stage.server.start()
    await stage.clock.until(stage.scene.client.whenConnected())
    await stage.clock.until(stage.scene.client.settled())
  },
  'the session has expired, and the events of that are on their way': ({ server, scene }, _holding, faultyDial) => {
    void faultyDial.holdEvent()
    server.expireSession(scene.client.sessionId)
  },
  'the session has expired, which the client does not know': expire,
  'the session has expired': async stage => {
    expire(stage)
    await stage.clock.until(outcomeOf(stage.scene.client.whenConnected()))
  },
  'a server has refused the credentials': async ({ server, scene: { client }, clock }) => {
    server.faults.replace('auth', 'AUTHFAILED')
    await clock.until(outcomeOf(client.addAuth('digest', 'ann:secret')))
  },
  'the client is being closed': ({ scene }) => void scene.client.close(),
  'the client is closed': ({ scene, clock }) => clock.until(scene.client.close()),
} satisfies Record<string, Act>

type Before = keyof typeof befores

interface During {
  /** Plans what happens to the requests of the call. */
  plan?: Act
  /** Loses the nth request of the call, or the reply to it. */
  loses?: 'dropRequest' | 'dropReply'
  /** Happens when the call waits for replies. */
  react?: Act
}

/** The servers answer the first writes of the call with this code. */
const answeredWith = (code: ServerErrorCode): During => ({
  plan({ server: { faults }, scene: { client } }) {
    for (const kind of ['delete', 'multi'] as const) faults.replace(kind, code, { times: 3, session: client.sessionId })
  },
})

const durings = {
  'are executed': {},
  'are throttled at first': answeredWith('THROTTLEDOP'),
  'reach a read-only server at first': answeredWith('NOTREADONLY'),
  'are not answered in time at first': answeredWith('REQUESTTIMEOUT'),
  'may not write': { plan: ({ scene }, { node }) => scene.other.setACL(parentOf(node), openACLWithout(perms.write)) },
  'are refused at first': {
    plan: ({ scene }, { node }) => scene.other.setACL(parentOf(node), openACLWithout(perms.delete)),
  },
  'wait for a server until the lease is over': { plan: ({ server }) => server.stop(), react: outliveLease },
  'wait for a server until the lease is over, and are then refused at first': {
    async plan({ scene, server }, { node }) {
      await scene.other.setACL(parentOf(node), openACLWithout(perms.delete))
      await server.stop()
    },
    react: outliveLease,
  },
  'are lost once': { loses: 'dropRequest' },
  'lose a reply': { loses: 'dropReply' },
  'are lost, and the session expires': { loses: 'dropRequest', react: expire },
  'lose a reply, and the session expires': { loses: 'dropReply', react: expire },
  'lose a reply, and the lease is over before the next': { loses: 'dropReply', react: outliveLease },
} satisfies Record<string, During>

type DuringName = keyof typeof durings

/** What the caller and the holder see, and whether the node is left. */
interface Seen {
  /** `resolves`, or the code of the error. */
  call: string
  /** Why the object is lost, by its signal. Null if the signal has not aborted, or if there is none. */
  loss: string | null
  isLeft: boolean
}

/** What is seen of a lock that does not watch its node. The others differ as {@link expected} says. */
const table: Readonly<Record<Before, Partial<Record<DuringName, [call: string, loss: string | null]>>>> = {
  nothing: {
    'are executed': ['resolves', null],
    'are throttled at first': ['resolves', null],
    'reach a read-only server at first': ['resolves', null],
    'are not answered in time at first': ['resolves', null],
    'may not write': ['resolves', null],
    'are refused at first': ['NOAUTH', null],
    'wait for a server until the lease is over': ['resolves', null],
    'wait for a server until the lease is over, and are then refused at first': ['NOAUTH', 'CONNECTIONLOSS'],
    'are lost once': ['resolves', null],
    'lose a reply': ['resolves', null],
    'are lost, and the session expires': ['resolves', 'SESSIONEXPIRED'],
    'lose a reply, and the session expires': ['resolves', 'SESSIONEXPIRED'],
    'lose a reply, and the lease is over before the next': ['resolves', null],
  },
  'another client has deleted the node': {
    'are executed': ['resolves', null],
    'are lost once': ['resolves', null],
    'lose a reply': ['resolves', null],
  },
  'the lease is over, and no server answers': {
    'are executed': ['resolves', 'CONNECTIONLOSS'],
    'are throttled at first': ['resolves', 'CONNECTIONLOSS'],
  },
  'the lease is over, but the session was found alive': {
    'are executed': ['resolves', 'CONNECTIONLOSS'],
    'are lost once': ['resolves', 'CONNECTIONLOSS'],
  },
  'the session has expired, and the events of that are on their way': {
    'are executed': ['resolves', 'SESSIONEXPIRED'],
  },
  'the session has expired, which the client does not know': {
    'are executed': ['resolves', 'SESSIONEXPIRED'],
    // By then it would have expired anyway.
    'wait for a server until the lease is over': ['resolves', null],
  },
  'the session has expired': { 'are executed': ['resolves', 'SESSIONEXPIRED'] },
  'a server has refused the credentials': { 'are executed': ['resolves', 'AUTHFAILED'] },
  'the client is being closed': { 'are executed': ['resolves', 'CLOSED'] },
  'the client is closed': { 'are executed': ['resolves', 'CLOSED'] },
}

function seenOf(
  { isGroup, watches, mustHold, listensToTheEnd, isUse }: Holder,
  before: Before,
  during: DuringName,
): Seen {
  const [call, loss] = table[before][during] ?? expect.fail('there is no such row')
  const isDeleted = before === 'another client has deleted the node'
  const isEnded = !/^(nothing|the lease)/.test(before) || loss === 'SESSIONEXPIRED'
  // Servers keep the session of refused credentials until it expires.
  const isLeft = call === 'NOAUTH' || loss === 'AUTHFAILED'
  if (isGroup) return { call, loss: null, isLeft }
  if (isUse) {
    const isOver = during.startsWith('wait for a server')
    const isLost = (before !== 'nothing' && !isOver) || loss === 'SESSIONEXPIRED'
    const isCut = isOver || before === 'the lease is over, and no server answers'
    return {
      call: isLost ? 'LOST' : isOver ? 'resolves' : call,
      loss: isDeleted ? 'NONODE' : isOver ? null : loss,
      isLeft: isLeft || (isCut && !isEnded),
    }
  }
  const lossAtTheEnd = during.includes('the lease is over') && listensToTheEnd ? 'CONNECTIONLOSS' : loss
  return {
    call: mustHold && isEnded ? 'LOST' : call,
    loss: isDeleted && watches ? 'NONODE' : lossAtTheEnd,
    isLeft,
  }
}

/** A lock that is lost has deleted its node already, if it could. */
const sends = ({ isGroup, watches, listensToTheEnd }: Holder, before: Before): boolean =>
  before === 'another client has deleted the node'
    ? watches !== true
    : before !== 'the lease is over, but the session was found alive' || isGroup === true || listensToTheEnd === true

/** @param nth the number of the request that is lost, or whose reply is lost */
async function play(holder: Holder, before: Before, during: DuringName, nth: number) {
  let faultyDial!: FaultyDial
  const options = { sessionTimeout: SESSION_TIMEOUT, onUncaughtError: () => undefined }
  const stage = await Stage.open(options, dial => (faultyDial = new FaultyDial(dial)).dial)
  const { clock, scene, server } = stage
  await clock.until(scene.other.ensurePath('/locks'))
  const holding = await clock.until(holder.hold(scene))
  const { node, signal } = holding
  const stat = server.snapshot().nodes.get(node)?.stat
  await clock.until(scene.client.settled())
  const next = holder.next?.(scene)
  const isGranted = next === undefined ? () => false : trackSettled(next)
  await turns()
  expect(isGranted(), 'the next contender has it too').to.equal(false)

  await clock.until(Promise.resolve(befores[before](stage, holding, faultyDial)))
  const { plan, loses, react }: During = durings[during]
  await clock.until(Promise.resolve(plan?.(stage, holding, faultyDial)))
  const hasLost = loses === undefined ? () => true : trackSettled(faultyDial[loses]('any', nth))
  const ending = outcomeOf(holding.end())
  await turns()
  faultyDial.deliver()
  const happened = hasLost()
  if (happened) await react?.(stage, holding, faultyDial)
  await server.start()
  const outcome = await clock.until(ending)
  const call = outcome instanceof Error ? (outcome as ZooKeeperError | RecipeError).code : 'resolves'
  const reason = signal?.reason as RecipeError | undefined
  const isLeft = server.snapshot().nodes.get(node)?.stat.czxid === stat?.czxid
  const seen = { call, loss: reason === undefined ? null : (reason.cause as ZooKeeperError).code, isLeft }

  faultyDial.heal()
  server.faults.clear()
  if (call === 'NOAUTH' || (isLeft && during.includes('refused'))) {
    expect(isGranted(), 'the next contender has it after a refusal').to.equal(false)
    await clock.until(scene.other.setACL(parentOf(node), openACL))
    await clock.until(holding.end())
  } else if (before === 'a server has refused the credentials') await clock.advance(2 * SESSION_TIMEOUT)
  await clock.until(scene.client.settled())
  await turns()
  expect(stage.owned.nodes, 'nodes after the end').to.deep.equal([])
  if (next !== undefined) {
    const granted = await clock.until(next, { within: SESSION_TIMEOUT })
    const others = server.snapshot().sessions.find(({ id }) => id === scene.other.sessionId)?.ephemerals
    expect(others, 'nodes of the next holder').to.include(granted.node)
    await clock.until(granted.end())
  }
  await stage.close()
  return { seen, happened }
}

describe('the end of what is held, if', () => {
  for (const before of Object.keys(table) as Before[])
    for (const during of Object.keys(table[before]) as DuringName[])
      for (const [name, holder] of Object.entries(holders))
        it(`${before}, and its requests ${during}: ${name}`, async () => {
          const expected = seenOf(holder, before, during)
          for (let [nth, goesOn] = [1, true]; goesOn; nth++) {
            const { seen, happened } = await play(holder, before, during, nth)
            if (nth === 1 || happened) expect(seen, `request ${nth}`).to.deep.equal(expected)
            const isSweep = 'loses' in durings[during]
            if (isSweep && nth === 1) expect(happened, 'the call sends a request').to.equal(sends(holder, before))
            goesOn = isSweep && happened
          }
        })
})

describe('the end of what is held leaves a later node with the name of its own,', () => {
  const dialect = { prefix: 'x-', pattern: /^x-(\d{10})$/ }
  const returning: Readonly<Record<string, Holder['hold']>> = {
    EphemeralMutex: async ({ client }) => holdingOf(await new EphemeralMutex(client, lock).acquire()),
    async 'Mutex with names of its own that has waited'({ client, other }) {
      const before = await new Mutex(other, lock, { dialect }).acquire()
      const acquiring = new Mutex(client, lock, { dialect }).acquire()
      await turns()
      await before.release()
      return holdingOf(await acquiring)
    },
    'QueueItem.release': ofItem(item => item.release()),
  }

  for (const [name, hold] of Object.entries(returning))
    for (const whose of ['other', 'client'] as const)
      for (const isCut of [false, true])
        it(`${whose === 'other' ? 'of another session' : 'of the same session'}, ${isCut ? 'also if it was called without a connection' : 'if it was called on a connection'}: ${name}`, async () => {
          let faultyDial!: FaultyDial
          const stage = await Stage.open({}, dial => (faultyDial = new FaultyDial(dial)).dial)
          const { clock, scene, server } = stage
          await clock.until(scene.other.ensurePath('/locks'))
          const { node, end } = await clock.until(hold(scene))
          await clock.until(scene.client.settled())
          const replace = async () => {
            await scene.other.delete(node)
            await scene[whose].create(node, '', { mode: 'ephemeral' })
          }
          if (isCut && whose === 'other') {
            faultyDial.refuse()
            await turns()
            await clock.until(replace())
          } else {
            await clock.until(replace())
            if (isCut) faultyDial.refuse()
          }
          const ending = end()
          await turns()
          faultyDial.accept()
          await clock.until(ending)
          expect(server.snapshot().nodes.get(node)?.stat.ephemeralOwner).to.equal(scene[whose].sessionId)
          await clock.until(scene.other.delete(node))
          await stage.close()
        })
})
