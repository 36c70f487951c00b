// The iterator of the states on its own.
import { expect } from 'chai'
import { StateIterator } from '../../src/client/state-iterator.ts'
import type { State, StateListener } from '../../src/session/life/states.ts'
import { settle } from '../../src/testing/virtual-clock.ts'
import { failureOf } from '../support/settled.ts'

/** A client whose state the test changes. */
class Stateful {
  state: State = 'connected'
  readonly listeners = new Set<StateListener>()

  on(_event: 'state', listener: StateListener): void {
    this.listeners.add(listener)
  }

  off(_event: 'state', listener: StateListener): void {
    this.listeners.delete(listener)
  }

  enter(state: State): void {
    const previous = this.state
    this.state = state
    for (const listener of [...this.listeners]) listener(state, previous)
  }
}

describe('an iterator of states', () => {
  it('yields the present state and each later one, ends after a terminal one, and then listens no more', async () => {
    const client = new Stateful()
    const states: State[] = []
    let hasEnded = false
    const iterating = (async () => {
      for await (const state of new StateIterator(client, undefined)) states.push(state)
      hasEnded = true
    })()
    await settle()
    client.enter('suspended')
    client.enter('connected')
    await settle()
    expect(states).to.deep.equal(['connected', 'suspended', 'connected'])
    client.enter('expired')
    await settle()
    expect([states.at(-1), hasEnded]).to.deep.equal(['expired', true])
    expect(client.listeners.size).to.equal(0)
    await iterating
  })

  it('listens no more after the loop was left, or its signal has aborted', async () => {
    const client = new Stateful()
    for await (const state of new StateIterator(client, undefined)) if (state === 'connected') break
    expect(client.listeners.size).to.equal(0)
    const controller = new AbortController()
    const states = new StateIterator(client, controller.signal)
    await states.next()
    const next = failureOf(states.next())
    expect(client.listeners.size).to.equal(1)
    controller.abort('enough')
    expect(await next).to.equal('enough')
    expect(client.listeners.size).to.equal(0)
  })

  it('yields nothing after return(), not even the states that were queued', async () => {
    const client = new Stateful()
    const states = new StateIterator(client, undefined)
    client.enter('suspended')
    await states.return()
    expect(await states.next()).to.deep.equal({ value: undefined, done: true })
  })

  it('yields the last state of a session that has ended before', async () => {
    const client = new Stateful()
    client.state = 'closed'
    const states = new StateIterator(client, undefined)
    expect(await states.next()).to.deep.equal({ value: 'closed', done: false })
    expect(await states.next()).to.deep.equal({ value: undefined, done: true })
    expect(client.listeners.size).to.equal(0)
  })
})
