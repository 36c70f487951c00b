// What a call costs, counted without a clock. It changes only on purpose: `npm run bench -- count` writes the new counts.
import { expect } from 'chai'
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import {
  count,
  countsOf,
  thisNode,
  writtenCounts,
  type AllCounts,
  type CallCounts,
} from '../../../bench/throughput/counts.ts'

const dist = fileURLToPath(new URL('../../../dist', import.meta.url))

describe('the cost of a call', () => {
  let counted: AllCounts

  before(async function () {
    // It takes some eight seconds of processor time, and other processes may have most of it.
    this.timeout(180_000)
    counted = await count()
  })

  it('is what counts.json says: functions, built-in functions and promises, frames and writes', async () => {
    const { calls } = await writtenCounts()
    const withoutBytes = (all: Record<string, object>) =>
      Object.fromEntries(Object.entries(all).map(([call, counts]) => [call, { ...counts, bytes: undefined }]))
    expect(withoutBytes(countsOf(counted)), 'run `npm run bench -- count` if you mean to change it').to.deep.equal(
      withoutBytes(calls),
    )
  })

  it('is what counts.json says for a hand-over: frames, promises, and functions to a hundredth', async () => {
    const { grants } = await writtenCounts()
    expect(Object.keys(counted.grants)).to.deep.equal(Object.keys(grants))
    for (const [lock, { functions, ...counts }] of Object.entries(counted.grants)) {
      const message = `${lock}: run \`npm run bench -- count\` if you mean to change it`
      expect({ ...counts, functions: grants[lock]?.functions }, message).to.deep.equal(grants[lock])
      expect(functions, message).to.be.closeTo(grants[lock]?.functions ?? NaN, functions / 100)
    }
  })

  it('is what counts.json says: the allocated bytes, to a hundredth, on the same version of Node', async function () {
    const { calls, node } = await writtenCounts()
    if (node !== thisNode) this.skip()
    for (const [call, { counts }] of Object.entries(counted.calls)) {
      const bytes = calls[call]?.bytes ?? NaN
      const message = `${call}: run \`npm run bench -- count\` if you mean to change it`
      expect(counts.bytes, message).to.be.closeTo(bytes, bytes / 100)
    }
  })

  it('is noticed if the prototype of each Stat is set', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'zkwire-counts-'))
    try {
      await cp(dist, folder, { recursive: true, filter: path => !/dist.cjs/.test(path) })
      const file = join(folder, 'protocol', 'records.js')
      const code = await readFile(file, 'utf8')
      const planted = code.replace('new StatFields(f)', 'Object.setPrototypeOf($&, {})')
      expect(planted).not.to.equal(code)
      await writeFile(file, planted)
      const { getData, delete: remove } = (await count(pathToFileURL(folder), ['getData', 'delete'])).calls
      const builtins = (counts: CallCounts | undefined) => counts?.counts.builtins ?? NaN
      expect(builtins(getData)).to.equal(builtins(counted.calls['getData']) + 1)
      expect(builtins(remove)).to.equal(builtins(counted.calls['delete']))
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})
