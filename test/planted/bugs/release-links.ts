// Bugs of the links from a report into the playground.
import type { PlantedBug } from '../planted-bug.ts'

const link = { file: 'site/world/release-link.ts', caughtBy: 'test/site/world/release-link.test.ts' }
const report = { file: 'bench/playground.ts', caughtBy: 'test/bench/playground.test.ts' }

export const releaseLinkBugs: readonly PlantedBug[] = [
  {
    ...link,
    bug: 'the link of the lock without look-ahead plays the one with it',
    from: "mutex: 'mutex-without-look-ahead'",
    to: "mutex: 'mutex'",
  },
  {
    ...link,
    bug: 'the holder releases the lock before the others have queued',
    from: '    await world.settle()\n',
    to: '',
  },
  {
    ...link,
    bug: 'each recorded phase gets a link, although only a release can be played',
    from: "phase === 'release' ? await releaseLink(scenario, sessions) : undefined",
    to: "phase === '' ? undefined : await releaseLink(scenario, sessions)",
  },
  {
    ...link,
    bug: 'the link has one client less than the recording',
    from: 'recipe, clients, servers: 1',
    to: 'recipe, clients: clients - 1, servers: 1',
  },
  {
    ...report,
    bug: 'the addresses start at the folder of the process, not at that of the report',
    from: 'relative(dirname(resolve(report)), page)',
    to: "relative('.', page)",
  },
  {
    ...report,
    bug: 'a space in the path of the playground is not escaped',
    from: 'encodeURI(relative(dirname(resolve(report)), page))',
    to: 'relative(dirname(resolve(report)), page)',
  },
]
