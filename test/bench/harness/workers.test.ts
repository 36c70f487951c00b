import { expect } from 'chai'
import type { CommandMessage } from '../../../bench/harness/messages.ts'
import { Workers, type UnitOwner, type UnitStart } from '../../../bench/harness/workers.ts'
import { scenarios } from '../../../bench/scenarios/index.ts'

/** A unit that replies to each command with a given value, and records the commands. */
function unit(clock: string, values: Record<string, unknown>) {
  const sent: CommandMessage[] = []
  let owner: UnitOwner | undefined
  const start: UnitStart = given => {
    owner = given
    const send = (message: CommandMessage) => {
      sent.push(message)
      given.received({ id: message.id, value: values[message.command] })
    }
    return { clock, send, terminate: () => Promise.resolve() }
  }
  return { start, sent, lose: () => owner?.lost(new Error('the unit has ended')) }
}

const owner = { failed: () => undefined, opened: () => undefined }
const mutex = scenarios.find(({ name }) => name === 'mutex')

describe('the units that share the sessions', () => {
  it('return marks in ms since the first member acted on the same clock, and NaN for other clocks, last', async () => {
    const here = unit('here', { act: 1000, marks: [{ member: 0, at: 1007 }] })
    const there = unit('there', { act: 5, marks: [{ member: 1, at: 9 }] })
    const workers = new Workers([here.start, there.start], owner)
    if (mutex === undefined) throw new Error('no scenario mutex')
    await workers.assemble(mutex, '/d', 2)
    await workers.select('/d')
    await workers.act('release', 0)
    expect(await workers.marks()).to.deep.equal([
      { member: 0, at: 7 },
      { member: 1, at: NaN },
    ])
    await workers.act('release', 'all')
    expect((await workers.marks()).map(({ at }) => at)).to.deep.equal([4, 7])
  })

  it('have the members that the placement assigns to them, and those act', async () => {
    const units = [unit('here', {}), unit('here', {})]
    const place = (member: number, size: number) => (member < size ? 1 : 0)
    const workers = new Workers(
      units.map(({ start }) => start),
      owner,
      place,
    )
    if (mutex === undefined) throw new Error('no scenario mutex')
    await workers.assemble({ ...mutex, hasTrigger: true }, '/d', 3)
    await workers.select('/d')
    await workers.act('release', 3)
    const membersOf = ({ sent }: (typeof units)[number]) =>
      sent.flatMap(({ command, args }) => (command === 'assemble' ? (args[0] as { members: number[] }).members : []))
    expect(units.map(membersOf)).to.deep.equal([[3], [0, 1, 2]])
    expect(units.map(({ sent }) => sent.filter(({ command }) => command === 'act').length)).to.deep.equal([1, 0])
  })

  it('are not waited for once they have ended', async () => {
    const failures: string[] = []
    const ended = unit('here', {})
    const workers = new Workers([ended.start], { ...owner, failed: error => failures.push(error.message) })
    ended.lose()
    expect(failures).to.deep.equal(['the unit has ended'])
    const failure = await workers.fence('all').catch((error: unknown) => error)
    expect(String(failure)).to.contain('the unit has ended')
    expect(ended.sent).to.deep.equal([])
    await workers.close(60_000)
  })

  it('without shared memory count towards the end of a phase too', async () => {
    let received: UnitOwner['received'] = () => undefined
    const start: UnitStart = given => {
      received = given.received
      return { clock: 'here', send: () => undefined, terminate: () => Promise.resolve() }
    }
    const workers = new Workers([start], owner)
    workers.expect(1, 3)
    received({ is: 'passed', marks: 1, frames: 2, otherFrames: 5 })
    expect(await workers.reached(0), 'a frame is missing').to.equal(false)
    const reached = workers.reached(5000)
    received({ is: 'passed', marks: 0, frames: 1, otherFrames: 0 })
    expect(await reached).to.equal(true)
    expect(workers.activity).to.equal(8)
  })
})
