// Each recipe at the root of a client whose chroot does not exist. The recipe creates it, and the nodes above it.
import { expect } from 'chai'
import { aclOf, digest, openACL, perms } from '../../src/index.ts'
import { constructions } from './constructions.ts'
import { Stage } from './public-calls.ts'

describe('at the root of a client whose chroot does not exist', () => {
  for (const [name, { options, make, use }] of Object.entries(constructions))
    it(`${name} creates it, and nodes above it that are open to everyone`, async () => {
      const seen = new Map<string, unknown>()
      let look: () => void = () => undefined
      const stage = await Stage.open({ onFrame: () => look() })
      const { clock, scene, server } = stage
      look = () => {
        for (const [path, node] of server.snapshot().nodes) seen.set(path, node.acl)
      }
      const acl = [aclOf('world', 'anyone'), aclOf('digest', digest('ann', 'secret'), perms.read)]
      const view = scene.client.chroot('/far/above/root')
      const given = 'acl' in options ? { ...options, acl } : options
      // Its node is one level lower.
      const path = name.startsWith('PersistentEphemeral') ? '' : '/'
      await clock.until(use(make(view, given as never, path) as never, view))
      const isUsed = !name.endsWith('with a ttl')
      expect(seen.has('/far/above/root')).to.equal(isUsed)
      if (isUsed) expect(seen.get('/far')).to.deep.equal(openACL)
      await stage.close()
    })
})
