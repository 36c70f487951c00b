// `npm run bench -- peers`: the locks of other libraries beside ours, through the same counting proxy, on one server.
// This file: the libraries and their recipes.
// May import: bench/harness, bench/measure, bench/output, bench/report, src/index.ts, src/protocol/index.ts,
// src/runtime/shuffle.ts, environment.

export interface Recipe {
  /** Unique among all recipes. Names the directory of the recipe. */
  id: string
  /** The name of the class or function in its library. */
  name: string
  about: string
  /** What the commands of the library's program call it. A read/write lock has one writer, and all others read. */
  joins: { first: string; others: string }
}

export type LibraryName =
  | 'zkwire'
  | 'Curator'
  | 'newest Curator'
  | 'ZooKeeper recipes'
  | 'kazoo'
  | 'newest kazoo'
  | 'C client'
  | 'node-zookeeper-client'

export interface Library {
  name: LibraryName
  /** The programs and packages that its measurement needs, for the first lines of the output. */
  needs: readonly string[]
  recipes: readonly Recipe[]
}

const recipe = (id: string, name: string, about: string, first: string, others = first): Recipe => ({
  ...{ id, name, about },
  joins: { first, others },
})

/** @param newest marks the ids of the newest version */
const curatorRecipes = (newest = ''): readonly Recipe[] => [
  recipe(`c${newest}-mutex`, 'InterProcessMutex', 'each watches its predecessor', 'mutex'),
  recipe(`c${newest}-semaphore`, 'InterProcessSemaphoreV2', 'one lease', 'semaphore'),
  recipe(`c${newest}-write`, 'InterProcessReadWriteLock, write', 'all write', 'write'),
  recipe(`c${newest}-read`, 'InterProcessReadWriteLock, read', 'one writes, the others read', 'write', 'read'),
  recipe(`c${newest}-latch`, 'LeaderLatch', 'a leader closes its latch, and starts another one', 'latch'),
]

const kazooRecipes = (newest = ''): readonly Recipe[] => [
  recipe(`k${newest}-lock`, 'Lock', 'each watches its predecessor', 'lock'),
  recipe(`k${newest}-semaphore`, 'Semaphore', 'one lease', 'semaphore'),
  recipe(`k${newest}-write`, 'WriteLock', 'all write', 'write'),
  recipe(`k${newest}-read`, 'ReadLock', 'one writes, the others read', 'write', 'read'),
]

export const libraries: readonly Library[] = [
  {
    name: 'zkwire',
    needs: ['nothing else'],
    recipes: [
      recipe('mutex', 'Mutex', 'each watches its predecessor, and looks ahead', 'mutex'),
      recipe('predecessor', 'Mutex, lookAhead: false', 'each watches its predecessor', 'predecessor'),
      recipe('herd', 'HerdMutex', 'all watch the directory', 'herd'),
      recipe('ticket', 'TicketMutex', 'numbers, without lists', 'ticket'),
      recipe('semaphore', 'Semaphore', 'one permit', 'semaphore'),
      recipe('write', 'ReadWriteLock, write', 'all write', 'write'),
      recipe('read', 'ReadWriteLock, read', 'one writes, the others read', 'write', 'read'),
      recipe('election', 'LeaderElection', 'a leader resigns', 'election'),
    ],
  },
  {
    name: 'Curator',
    needs: ['a JDK (Debian package default-jdk-headless)', 'Debian package libcurator-recipes-java'],
    recipes: curatorRecipes(),
  },
  {
    name: 'newest Curator',
    needs: ['packages of Debian trixie, unpacked in .cache/debian'],
    recipes: curatorRecipes('n'),
  },
  {
    name: 'ZooKeeper recipes',
    needs: ['the same as Curator'],
    recipes: [recipe('z-lock', 'WriteLock', 'each watches its predecessor', 'lock')],
  },
  {
    name: 'kazoo',
    needs: ['Debian package python3-kazoo'],
    recipes: kazooRecipes(),
  },
  {
    name: 'newest kazoo',
    needs: ['a package of Debian sid, unpacked in .cache/debian'],
    recipes: kazooRecipes('n'),
  },
  {
    name: 'C client',
    needs: [
      'Debian packages build-essential, libzookeeper-mt-dev',
      'the sources of zoo_lock (apt-get source zookeeper)',
    ],
    recipes: [recipe('zoo-lock', 'zoo_lock', 'each watches its predecessor', 'lock')],
  },
  {
    name: 'node-zookeeper-client',
    needs: ['npm package node-zookeeper-client, kept in .cache/peers'],
    recipes: [
      recipe('n-lock', 'handwritten', 'each watches its predecessor', 'predecessor'),
      recipe('n-herd', 'handwritten, herd', 'all watch the directory', 'directory'),
    ],
  },
]
