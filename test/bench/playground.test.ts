import { expect } from 'chai'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { playableFrom } from '../../bench/playground.ts'

describe('the report of npm start', () => {
  const recording = { scenario: 'herd', phase: 'release', sessions: 3, actor: 0, happenings: [] }
  let folder: string
  before(async () => (folder = await mkdtemp(join(tmpdir(), 'zkwire-playable-'))))
  after(() => rm(folder, { recursive: true }))

  it('links to the releases in the playground, from its own folder', async () => {
    const page = join(folder, 'a site', 'playground.html')
    await mkdir(join(folder, 'a site'))
    await writeFile(page, '')
    const playable = await playableFrom(join(folder, 'results', 'report.html'), [recording], page)
    expect(playable.get('herd')).to.match(/^\.\.\/a%20site\/playground\.html#1;herd-mutex;3;1;/)
  })

  it('has no such links if the playground has not been built', async () => {
    expect(await playableFrom(join(folder, 'report.html'), [recording], join(folder, 'none.html'))).to.deep.equal(
      new Map(),
    )
  })
})
