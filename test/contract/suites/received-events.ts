// Changes nodes for the suites of watches, and names the events that a session receives.
import { expect } from 'chai'
import { addWatchModes, eventTypes, operations } from '../../../src/protocol/index.ts'
import { call, type ServerMessage, type WireSession } from '../../support/wire-session.ts'
import { openACL, type World } from '../suite.ts'

const typeNames = new Map<number, string>(Object.entries(eventTypes).map(([name, number]) => [number, name]))

/**
 * Returns a name for each received message: 'NodeCreated /a' for an event, with the path relative to the case's node;
 * 'reply' or 'error' for a reply.
 */
export const namesOf = (world: World, received: readonly ServerMessage[]): string[] =>
  received.map(each => {
    if ('reply' in each) return each.reply.err === 0 ? 'reply' : 'error'
    const { type, state, path } = each.event
    expect(state, 'SyncConnected').to.equal(3)
    return `${typeNames.get(type) ?? type} ${path?.slice(world.base.length) || '/'}`
  })

/** Pings and returns the events received, because a server sends all pending events of a session before the reply. */
export const pendingEvents = async (world: World, session: WireSession): Promise<string[]> =>
  namesOf(world, await session.exchange([call(operations.ping, {})])).slice(0, -1)

/** Makes every kind of change to a node, its data and its child. */
export const changeInEveryWay = async ({ zk }: World, path: string): Promise<void> => {
  await zk.create(path)
  await zk.setData(path, 'x')
  await zk.setACL(path, openACL)
  await zk.create(`${path}/child`)
  await zk.setData(`${path}/child`, 'x')
  await zk.delete(`${path}/child`)
  await zk.delete(path)
}

export const addWatch = (world: World, session: WireSession, path: string, mode: keyof typeof addWatchModes) =>
  session.request(operations.addWatch, { path: world.at(path), mode: addWatchModes[mode] })
