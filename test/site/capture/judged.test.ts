// A trial that `zkwire judge --save` has written, on the stage of the playground.
import { expect } from 'chai'
import { CaptureExplainer } from '../../../src/cli/capture/capture-explainer.ts'
import { toldLineOf } from '../../../src/cli/conversation/told-line.ts'
import type { Row, WireLine } from '../../../src/cli/judge/record.ts'
import { savedTrial, trialLinkOf } from '../../../src/cli/judge/saved-trial.ts'
import { openCapture } from '../../../site/capture/capture.ts'
import { trialIn } from '../../../site/capture/trial-link.ts'
import { CapturedWorld } from '../../../site/capture/captured-world.ts'
import { describeClient, holds } from '../../../site/playground/model/words.ts'
import { readFileSync } from 'node:fs'

/** The frames of two sessions of kazoo, as those of the copies 2 and 1, which began in this order. */
function wireRows(): Row[] {
  const rows: Row[] = []
  const explainer = new CaptureExplainer((seconds, connection, line) => {
    const kind = line.frame === undefined ? 'wire' : line.frame.from === 'client' ? 'sent' : 'received'
    const wire = { connection, server: 'localhost:1', told: toldLineOf(line, true) }
    rows.push({ at: 1000 * seconds, copy: 3 - connection, kind, text: line.sentence, holders: [], line: wire })
  })
  explainer.push(readFileSync(new URL('../../cli/capture/kazoo.pcap', import.meta.url)), 0)
  explainer.finish()
  return rows
}

const row = (at: number, copy: number, kind: 'says' | 'judge', text: string, holders: readonly number[] = []): Row => ({
  ...{ at, copy, kind, text, holders },
})

const TRIAL = [
  ...wireRows(),
  row(100, 1, 'judge', 'lock'),
  row(101, 2, 'judge', 'lock'),
  row(110, 1, 'says', 'in', [1]),
  row(120, 1, 'judge', 'its process is stopped, until its session has expired', [1]),
  row(130, 1, 'judge', 'its session has ended at the server', [1]),
  row(140, 2, 'says', 'in 7', [1, 2]),
  row(150, 1, 'judge', 'continues', [1, 2]),
  row(160, 2, 'says', 'out', [1]),
  row(170, 2, 'says', 'ends with status 1', [1]),
]

const isAnswerToEphemeral = ({ kind, text }: Row) => kind === 'received' && text.includes('__lock__')

describe('a trial of the judge on the stage', () => {
  const opened = () =>
    openCapture({
      name: 'kept.json',
      chunks: [Buffer.from(savedTrial(TRIAL, ['two copies hold the lock', 'in trial 2.']))],
    })
  const openedRows = async (rows: readonly Row[]) =>
    new CapturedWorld(await openCapture({ name: 'a.json', chunks: [Buffer.from(savedTrial(rows, []))] }))
  const at = async (ms: number) => {
    const world = new CapturedWorld(await opened())
    await world.advance(ms)
    return world.picture()
  }

  it('has the copies as clients with their own numbers, and the sentences of the judge', async () => {
    const { clients, frames, notes, unknown } = await opened()
    expect(clients.map(({ id }) => id)).to.deep.equal([1, 2])
    expect(frames[0]?.client).to.equal(2)
    expect(notes).to.deep.equal([
      ...['two copies hold the lock', 'in trial 2.'],
      'Each client is the copy of the program with its number.',
    ])
    expect(unknown.join()).not.to.contain('is not on the wire')
  })

  it('shows which copies wait and hold, and that one only believes it after the end of its session', async () => {
    const words = async (ms: number) => (await at(ms)).clients.map(describeClient)
    expect(await words(105)).to.deep.equal([
      'client 1: closed, waits for its turn',
      'client 2: closed, waits for its turn',
    ])
    expect(await words(115)).to.deep.equal(['client 1: closed, holds the lock', 'client 2: closed, waits for its turn'])
    expect(await words(145)).to.deep.equal([
      'client 1: stopped, believes that it holds the lock',
      'client 2: closed, holds the lock',
    ])
    expect((await at(155)).clients.map(holds)).to.deep.equal([false, true])
    expect(await words(175)).to.deep.equal([
      'client 1: closed, believes that it holds the lock',
      'client 2: dead, is done',
    ])
  })

  it('ends what a copy holds when the judge kills it', async () => {
    const world = await openedRows([
      ...wireRows(),
      row(110, 1, 'says', 'in', [1]),
      row(120, 1, 'judge', 'its process is killed, and its session expires', [1]),
    ])
    await world.advance(125)
    const { clients, holdings } = world.picture()
    expect(clients.map(describeClient)[0]).to.equal('client 1: dead, is done')
    expect(holdings).to.deep.equal([{ client: 1, at: 110, lostAt: undefined, until: 120 }])
  })

  it('has a bar for each time that a copy held, as far as it knew', async () => {
    expect((await at(175)).holdings).to.deep.equal([
      { client: 1, at: 110, lostAt: 130, until: undefined },
      { client: 2, at: 140, lostAt: undefined, until: 160 },
    ])
  })

  it('shows below the stage what the programs and the judge said last, without a click', async () => {
    const said = async (ms: number) => (await at(ms)).said?.map(({ client, text }) => `client ${client} ${text}`)
    expect(await said(99)).to.deep.equal([])
    expect(await said(101)).to.deep.equal(['client 1 from the judge: lock', 'client 2 from the judge: lock'])
    expect(await said(140)).to.deep.equal([
      'client 1 from the judge: its process is stopped, until its session has expired',
      'client 1 from the judge: its session has ended at the server',
      'client 2 says in 7',
    ])
  })

  it('keeps the session of a copy without a connection, until the judge says that it has ended', async () => {
    const wire = (at: number, more: Partial<WireLine['told']>): Row => ({
      ...{ at, copy: 1, kind: 'wire', text: '', holders: [] },
      line: { connection: 1, server: 'localhost:1', told: { sentence: 'x', ...more } },
    })
    const bytes = `000000240000000000002710${'7'.padStart(16, '0')}00000010${'00'.repeat(16)}`
    const world = await openedRows([
      wire(1, { client: 'c:1' }),
      wire(2, { from: 'server', op: 'connect', bytes }),
      wire(3, { closed: true }),
      row(4, 1, 'judge', 'its session has ended at the server'),
    ])
    const sessions = async () => {
      await world.advance(1)
      return world.picture().servers[0]?.sessions.map(({ id, isConnected }) => [id, isConnected])
    }
    expect(await sessions()).to.deep.equal([])
    expect(await sessions()).to.deep.equal([['0x7', true]])
    expect(await sessions()).to.deep.equal([['0x7', false]])
    expect(await sessions()).to.deep.equal([])
  })

  it('removes the ephemeral nodes of an old session of a copy, and not those of its new one', async () => {
    const rows = wireRows()
    const created = rows.filter(({ at }) => at <= (rows.find(isAnswerToEphemeral)?.at ?? expect.fail()))
    const { at: last = 0, copy = 0 } = created.at(-1) ?? {}
    const nodes = async (words: string) => {
      const world = await openedRows([...created, row(last + 1, copy, 'judge', words)])
      await world.advance(last + 2)
      return world.picture().servers[0]?.nodes.filter(({ kind }) => kind === 'ephemeral').length
    }
    expect(await nodes('its old session has ended at the server')).to.equal(1)
    expect(await nodes('its session has ended at the server')).to.equal(0)
  })

  it('is the same from the link that the judge prints', async () => {
    const saved = savedTrial(TRIAL, ['two copies hold the lock', 'in trial 2.'])
    const link = trialLinkOf(saved)?.slice(1) ?? expect.fail()
    const { name, ...rest } = await openCapture(trialIn(link) ?? expect.fail())
    const { name: _, ...file } = await opened()
    expect(name).to.equal('The trial of the link')
    expect(rest).to.deep.equal(file)
    expect(trialIn('lesson=herd')).to.equal(undefined)
  })

  it('is refused in a sentence if the link is cut, or no link at all', async () => {
    const link = trialLinkOf(savedTrial(TRIAL, []))?.slice(1) ?? expect.fail()
    const damaged = [link.slice(0, -9), 'trial=', 'trial=a.b', `trial=${'A'.repeat(16_001)}`]
    for (const text of damaged) {
      const problem = await (async () => openCapture(trialIn(text) ?? expect.fail()))().catch(
        (e: unknown) => e as Error,
      )
      expect(problem, text.slice(0, 60))
        .to.have.property('message')
        .that.matches(/^The trial of the link is damaged: /)
    }
  })

  it('has no link if it is too long for one', () => {
    const rows = Array.from({ length: 2_000 }, (_, i) => row(i, 1, 'says', String(Math.imul(i, 0x9e3779b1))))
    expect(trialLinkOf(savedTrial(rows, []))).to.equal(undefined)
  })

  it('is refused if no copy has connected, because there is nothing to play', async () => {
    const chunks = [Buffer.from(savedTrial([row(1, 1, 'says', 'ends with status 1')], ['a copy ends']))]
    const problem = await openCapture({ name: 'a.json', chunks }).catch((error: unknown) => error as Error)
    expect(problem).to.have.property('message').that.contains('the programs of this trial have not connected')
  })
})
