// The programs that measure nothing: they read results.
import { expect } from 'chai'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readResult } from '../../../bench/output/result.ts'
import { readPeersResult } from '../../../bench/peers/result.ts'
import { startProgram } from './program.ts'

const herd = fileURLToPath(new URL('../../../docs/herd.json', import.meta.url))
const peers = fileURLToPath(new URL('../../../docs/peers.json', import.meta.url))

describe('npm run bench -- compare', function () {
  this.timeout(60_000)

  let directory: string
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'zkwire-compare-'))
  })
  after(() => rm(directory, { recursive: true }))

  const compare = (...args: string[]) => startProgram('bench/compare/main.ts', ...args).ended

  it('exits with 3 if the newer result is worse', async () => {
    const newer = join(directory, 'newer.json')
    const result = await readResult(herd)
    for (const { phases } of result.cells) for (const { counts } of phases) counts.framesSent.median *= 2
    await writeFile(newer, JSON.stringify({ ...result, server: { ...result.server, version: '3.9.9' } }))
    const same = await compare(herd, herd, '--fail-if-worse', '0%')
    expect(same).to.include({ status: 0, err: '' })
    expect(same.out).to.contain('on the same machine and server').and.to.contain('\nNot worse: none of ')
    const worse = await compare(herd, newer, '--fail-if-worse', '10%')
    expect(worse).to.include({ status: 3, err: '' })
    expect(worse.out)
      .to.match(/^ {2}server: Apache ZooKeeper 3\.\S+, standalone → Apache ZooKeeper 3\.9\.9, standalone$/m)
      .and.to.match(/^WORSE: herd 1000, release: 4002 frames instead of 3001, which is 33\.4 % more\.$/m)
    expect(await compare(herd, newer)).to.include({ status: 0 })
  })

  it('exits with 3 if a lock of the peers that was to be measured is missing', async () => {
    const same = await compare(peers, peers, '--fail-if-worse', '0%')
    expect(same).to.include({ status: 0, err: '' })
    expect(same.out)
      .to.match(/^c-mutex +100 release +(\S+k) → \1 /m)
      .and.to.contain('\nNot worse: none of ')
    const result = await readPeersResult(peers)
    const newer = join(directory, 'newer-peers.json')
    const [first] = result.cells
    const libraries = result.libraries.map(each => (each.name === 'Curator' ? { ...each, version: '5.9.0' } : each))
    await writeFile(newer, JSON.stringify({ ...result, libraries, cells: result.cells.slice(1) }))
    const gutted = await compare(peers, newer, '--fail-if-worse', '10%')
    expect(gutted).to.include({ status: 3, err: '' })
    expect(gutted.out.replaceAll(/\s+/g, ' '))
      .to.contain(`was to measure ${first?.recipe} ${first?.size}, and did not`)
      .and.to.contain('on the same machine and server libraries: Curator 5.4.0, ')
      .and.to.contain('→ Curator 5.9.0, ')
  })

  it('rejects results of two kinds, and a file that is not a result, in one line', async () => {
    const mixed = await compare(herd, peers)
    expect(mixed).to.include({ status: 1, out: '' })
    expect(mixed.err).to.equal('one of the results is of npm run bench -- peers, and the other is not\n')
    const { status, out, err } = await compare(fileURLToPath(import.meta.url), herd)
    expect({ status, out }).to.deep.equal({ status: 1, out: '' })
    expect(err).to.match(/^[^\n]*compare\.test\.ts: [^\n]+\n$/)
  })

  it('names a file that lacks a part of a result', async () => {
    const file = join(directory, 'damaged.json')
    for (const whole of [herd, peers]) {
      const { format, what } = JSON.parse(await readFile(whole, 'utf8')) as { format: number; what: string }
      await writeFile(file, JSON.stringify({ format, what }))
      const { status, out, err } = await compare(file, whole)
      expect({ status, out }).to.deep.equal({ status: 1, out: '' })
      expect(err).to.match(/^\S+damaged\.json is damaged, because it lacks a part of a result: [^\n]+\n$/)
    }
  })
})
