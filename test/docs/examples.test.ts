// Each public name has an example in its docstring. The examples are checked and run here, and the reference shows them.
import { expect } from 'chai'
import { entryPoints, publicNames, type PublicName } from '../support/public-names.ts'
import { loadProgram, typeErrors, writeProgram, type Program } from './examples/program.ts'

/** Examples that must fail, by the sentence that reports each. */
const wrong = {
  'wrong.ts:1 name: the result is 3': '1 + 2 // => 4',
  "wrong.ts:1 name: the result is 'ab'": "'ab' // => /c/",
  'wrong.ts:2 name: the line was not reached': "await zk.exists('/', { watch: () => {\n  1 // => 1\n} })",
  'wrong.ts:1 name: the result is null, not an error NONODE': "await zk.exists('/app') // throws NONODE",
  'wrong.ts:1 name: throws ZooKeeperError: NONODE': "await zk.getData('/app') // throws NOAUTH",
  'wrong.ts:2 name: Error: early': "if (zk.state === 'connected') throw new Error('early')\nzk.state // => 'connected'",
  'wrong.ts:2 name: Error: the example did not end': 'await new Promise(() => undefined)\n1 // => 1',
}

/** Examples without a result that can be checked. */
const unchecked = {
  'unchecked.ts:1 name: the example has no result': '1 + 2 // 3',
  'unchecked.ts:1 name: a result does not follow an expression': 'const sum = 1 + 2 // => 3',
}

const exampleNames = (file: string, examples: object): PublicName[] => [
  {
    ...{ name: 'name', entryPoint: 'src/index.ts', is: 'value', isTypeOnly: false, file, line: 1 },
    examples: Object.values(examples).map((code: string) => ({ line: 1, code })),
  },
]

/** The classes and interfaces whose methods have examples of their own. */
const withMethods = [
  ...['Client', 'Transaction', 'Watcher', 'Lock', 'Held', 'LeaderElection'],
  ...['Counter', 'SharedValue', 'Queue', 'QueueItem', 'Lease', 'Partitioner', 'PersistentEphemeral', 'ServiceProvider'],
  ...['Membership', 'Services', 'Registration', 'Sessions'],
  ...['Cache', 'Barrier', 'DoubleBarrier'],
  ...['Server', 'Member', 'Faults', 'Fault', 'VirtualClock'],
  ...['Reader', 'Writer', 'Framer'],
]

describe('the examples of the public names', () => {
  let names: PublicName[]
  let problems: string[]
  let program: Program

  before(async function () {
    this.timeout(60_000)
    names = publicNames(Object.values(entryPoints()), withMethods)
    problems = writeProgram([...names, ...exampleNames('wrong.ts', wrong), ...exampleNames('unchecked.ts', unchecked)])
    program = await loadProgram()
  })

  it('are complete: each name has one in its docstring', () => {
    expect(names).to.have.length.above(300)
    const missing = names.filter(({ examples }) => examples.length === 0)
    expect(missing.map(({ file, line, name, is }) => `${file}:${line} ${is} ${name}`)).to.deep.equal([])
  })

  it('are reported as missing for each export, and for each method, without one', () => {
    const found = publicNames(['test/docs/examples/run.ts'], ['Checks'])
    const names = ['failuresOf', 'Given', 'Checks', 'Checks.check', 'Checks.throws', 'RunnableExample']
    expect(found.map(({ name }) => name)).to.have.members(names)
    expect(found.flatMap(({ examples }) => examples)).to.deep.equal([])
  })

  it('each have a result in a comment', () => expect(problems).to.deep.equal(Object.keys(unchecked)))

  it('compile', async function () {
    this.timeout(60_000)
    expect(await typeErrors()).to.equal('')
  })

  it('give the results in their comments', async function () {
    this.timeout(60_000)
    const failures: string[] = []
    for (const example of program.examples)
      if (example.file !== 'wrong.ts') failures.push(...(await program.failuresOf(example)))
    expect(failures).to.deep.equal([])
  })

  it('are reported if they give another result or none', async () => {
    const failures: string[] = []
    for (const example of program.examples)
      if (example.file === 'wrong.ts') failures.push(...(await program.failuresOf(example, 100)))
    const sentences = Object.keys(wrong)
    expect(failures).to.have.length(sentences.length)
    for (const [i, sentence] of sentences.entries()) expect(failures[i]).to.include(sentence)
  })
})
