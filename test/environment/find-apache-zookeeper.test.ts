import { expect } from 'chai'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { distribution, findApacheZooKeeper } from '../../environment/find-apache-zookeeper.ts'

describe('finding Apache ZooKeeper', () => {
  let home: string
  beforeEach(() => (home = mkdtempSync(join(tmpdir(), 'zookeeper-home-'))))
  afterEach(() => rmSync(home, { recursive: true }))

  it('returns the same promise on every call', () => {
    expect(findApacheZooKeeper()).to.equal(findApacheZooKeeper())
  })

  it('includes every jar of a binary distribution and its logger configuration', () => {
    mkdirSync(join(home, 'lib'))
    for (const name of ['zookeeper-3.9.3.jar', 'logback-core-1.2.13.jar', 'LICENSE.txt'])
      writeFileSync(join(home, 'lib', name), '')
    expect(distribution(home).split(':')).to.have.members([
      join(home, 'conf'),
      join(home, 'lib', 'zookeeper-3.9.3.jar'),
      join(home, 'lib', 'logback-core-1.2.13.jar'),
    ])
  })

  it('throws an error with the alternatives if ZOOKEEPER_HOME is no binary distribution', () => {
    for (const lib of [false, true]) {
      if (lib) mkdirSync(join(home, 'lib'))
      expect(() => distribution(home)).to.throw(/not found.*ZOOKEEPER_HOME is .*Debian package.*--server/s)
    }
  })
})
