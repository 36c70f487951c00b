// The option acl, in every recipe that has it: each node that the recipe creates at its path and below has that ACL.
import { expect } from 'chai'
import { aclOf, digest, openACL, perms, type ACL } from '../../src/index.ts'
import { publicCallsWith } from '../support/public-names.ts'
import { constructions } from './constructions.ts'
import { Stage } from './public-calls.ts'

const uses = Object.entries(constructions).filter(([, { options }]) => 'acl' in options)

describe('the option acl of a recipe', () => {
  it('is tested here if the recipe has it', () => {
    // The declaration of EphemeralMutex names the options of the others.
    const classes = new Set(uses.map(([name]) => `new ${name.split(' ')[0] ?? ''}`))
    expect([...classes]).to.have.members([...publicCallsWith('acl', ['src/recipes/index.ts']), 'new EphemeralMutex'])
  }).timeout(60_000)

  const newACL = () => [aclOf('world', 'anyone'), aclOf('digest', digest('ann', 'secret'), perms.read)]

  for (const [name, { options, make, use }] of uses)
    it(`new ${name} gives it, as it was at the call, to each node at its path and below, and to none above`, async () => {
      const seen = new Map<string, readonly ACL[]>()
      let look: () => void = () => undefined
      const stage = await Stage.open({ onFrame: () => look() })
      const { clock, scene, server } = stage
      look = () => {
        for (const [path, node] of server.snapshot().nodes) seen.set(path, node.acl)
      }
      const given = newACL()
      const object = make(scene.client, { ...options, acl: given } as never, '/above/recipe')
      for (const entry of given) Object.assign(entry, { perms: perms.read, id: { scheme: 'world', id: 'nobody' } })
      given.length = 1
      await clock.until(use(object as never, scene.client))
      // The nodes of services are directories in a directory that has no ACL of its own.
      const top = name === 'Services' ? '/above/recipe/' : '/above/recipe'
      const own = [...seen.keys()].filter(path => path.startsWith(top))
      expect(own.length).to.be.above(0)
      for (const path of own) expect(seen.get(path), path).to.deep.equal(newACL())
      // The directory of an EphemeralMutex is the parent of its node.
      expect(seen.get('/above')).to.deep.equal(name === 'EphemeralMutex' ? newACL() : openACL)
      await stage.close()
    })
})
