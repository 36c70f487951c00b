// docs/versions.md says what the declarations say, and CI runs what the page says.
import { expect } from 'chai'
import { zookeeperVersions } from '../../environment/needs.ts'
import { readDocument } from '../support/document.ts'
import { peerRows, tablesOf, withTables } from './versions-page.ts'

const page = readDocument('docs/versions.md')

describe('docs/versions.md', () => {
  it('has the tables that write-versions.ts makes; the versions of peers are those of the machine that wrote it', () => {
    const versions = [...page.matchAll(/^\| (?:Curator|kazoo|go-zookeeper) \| (\d+\.\d+\.\d+) \|/gm)].map(
      ([, version = '']) => version,
    )
    expect(versions).to.have.length(peerRows.length)
    const made = tablesOf(peer => versions[peerRows.indexOf(peer)] ?? '')
    expect(withTables(page, made)).to.equal(page)
    expect(() => withTables('# No table', made)).to.throw('the page has no table | ZooKeeper |')
  })

  it('names the versions that have a job of CI each, beside Debian’s', () => {
    const matrix = /zookeeper: \[debian, (.*)\]/.exec(readDocument('.github/workflows/ci.yml'))?.[1]
    expect(matrix?.split(', ')).to.deep.equal(Object.keys(zookeeperVersions))
  })
})
