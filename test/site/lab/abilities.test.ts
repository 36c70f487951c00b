// The list of what a program can use: each line runs, and what exercises need is in it.
import { expect } from 'chai'
import { ABILITIES } from '../../../site/lab/abilities.ts'
import { EXERCISES } from '../../../site/lab/exercises.ts'
import { verdictOf } from '../../../site/lab/judge.ts'
import { OWN_NAMES } from '../../../site/lab/script.ts'
import { runProgram } from '../support/in-process-world.ts'

const text = ABILITIES.flatMap(({ list }) => list.map(({ code, meaning }) => `${code} ${meaning}`)).join('\n')

describe('what a program can use', () => {
  it('are lines that run one after the other', async () => {
    const world = await runProgram(ABILITIES.flatMap(({ list }) => list.map(({ code }) => code)).join('\n'), {
      clients: 1,
    })
    const { failures, entries } = verdictOf(world.picture())
    expect({ failures, entries }).to.deep.equal({ failures: [], entries: 1 })
    // All lines before kill() have run, and none after it.
    const [client] = world.picture().clients
    expect(client?.process).to.equal('dead')
    await world.close()
  })

  it('are lines that run without that of kill() too', async () => {
    const lines = ABILITIES.flatMap(({ list }) => list.map(({ code }) => code)).filter(code => !code.includes('kill'))
    const world = await runProgram(lines.join('\n'), { clients: 1 })
    expect(verdictOf(world.picture())).to.deep.include({ failures: [], unfinished: [] })
    const journal = world.picture().clients[0]?.journal.map(each => each.text)
    expect(journal).to.include.members(['NONODE', '1 1', 'changed', 'its program has ended'])
    await world.close()
  })

  it('has each name of its own', () => {
    for (const name of OWN_NAMES.filter(name => !['clearTimeout', 'performance', 'crypto'].includes(name)))
      expect(text).to.match(new RegExp(`\\b${name}\\b`))
  })

  it('has all that the solutions of the exercises use', () => {
    const uses = new Set(
      EXERCISES.flatMap(({ solution }) => [
        ...solution.matchAll(
          /zk\.\w+|stat\.version|error\.code|\b(?:NO|BAD|NODE)[A-Z]+\b|'\w+Sequential'|\{ (?:watch|version|mode):|sort\(|data\.length|children \}/g,
        ),
      ]).map(([use]) => use.replace(/^'|'$/g, '')),
    )
    expect(uses.size).to.be.above(12)
    for (const use of uses) expect(text).to.contain(use)
  })
})
