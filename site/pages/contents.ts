// The guides of the site: which sections of which documents make each page. The texts themselves are in README.md and
// docs/, and nowhere else.

export interface Guide {
  /** The name of the page's file, without ".html". */
  name: string
  /** The name in menus. It is also the heading, unless the page is a whole document, which has its own. */
  title: string
  /** Says in a few words what the page is for. */
  about: string
  document: string
  /** The headings of the sections that are taken. '' is the text before the first one. Default: the whole document. */
  sections?: readonly string[]
}

export interface GuideGroup {
  title: string
  guides: readonly Guide[]
}

const README = 'README.md'

export const groups: readonly GuideGroup[] = [
  {
    title: 'Learn',
    guides: [
      {
        ...{ name: 'start', title: 'Start', about: 'Install it, and hold a lock in ten lines' },
        ...{
          document: README,
          sections: ['', 'In a web service', 'When something fails', 'A ZooKeeper for tests', 'Command line'],
        },
      },
      {
        ...{ name: 'nodes', title: 'Nodes and watches', about: 'Sessions, calls, errors, and what a watch tells' },
        document: 'docs/nodes.md',
      },
      {
        ...{ name: 'services', title: 'One loop', about: 'Survive the loss of a session, and end properly' },
        document: 'docs/supervise.md',
      },
      {
        ...{ name: 'service', title: 'In a web service', about: 'One object for all handlers: locks, reads, health' },
        document: 'docs/service.md',
      },
      {
        ...{ name: 'recipes', title: 'Recipes', about: 'All recipes in one table' },
        ...{ document: README, sections: ['I want to …', 'One lock in three languages'] },
      },
      {
        ...{
          name: 'contract',
          title: 'How recipes behave',
          about: 'How each recipe starts, tells changes, fails, ends',
        },
        document: 'docs/recipes.md',
      },
      {
        ...{
          name: 'glossary',
          title: 'Which recipe, and words',
          about: 'When you need no lock, and what the words mean',
        },
        document: 'docs/glossary.md',
      },
      {
        ...{ name: 'run-once', title: 'Run a job once', about: 'Why a lock alone runs a short job twice' },
        document: 'docs/run-once.md',
      },
      {
        ...{ name: 'locks', title: 'Locks', about: 'What each lock costs and guarantees, and which one to choose' },
        document: 'docs/locks.md',
      },
      {
        ...{ name: 'data', title: 'Shared data and members', about: 'Caches, counters, queues, groups, services' },
        document: 'docs/data.md',
      },
      {
        ...{
          name: 'guarantees',
          title: 'Guarantees',
          about: 'What each call and each recipe promises, and the test that shows it',
        },
        document: 'docs/guarantees.md',
      },
      {
        ...{ name: 'exploration', title: 'How the locks were checked', about: 'Every schedule of small worlds' },
        document: 'docs/exploration.md',
      },
      {
        ...{ name: 'fencing', title: 'Fencing', about: 'How a store refuses the late write of a former holder' },
        document: 'docs/fencing.md',
      },
      {
        ...{ name: 'testing', title: 'Testing', about: 'A ZooKeeper in memory, with faults and virtual time' },
        document: 'docs/testing.md',
      },
    ],
  },
  {
    title: 'Operate',
    guides: [
      {
        ...{ name: 'operate', title: 'In production', about: 'Each number to choose, what to alert on, a checklist' },
        document: 'docs/operate.md',
      },
      {
        ...{
          name: 'kubernetes',
          title: 'In Kubernetes',
          about: 'A whole service, its probes, its shut-down, a CronJob',
        },
        document: 'docs/kubernetes.md',
      },
      {
        ...{
          name: 'connect',
          title: 'Connect',
          about: 'Options and states, many servers, TLS, passwords',
        },
        document: 'docs/connect.md',
      },
      {
        ...{ name: 'versions', title: 'Versions', about: 'Of ZooKeeper and Node, what is stable, and for how long' },
        document: 'docs/versions.md',
      },
      {
        ...{ name: 'keeper', title: 'On ClickHouse Keeper', about: 'What works, from which version of Keeper on' },
        document: 'docs/keeper.md',
      },
      {
        ...{
          name: 'observability',
          title: 'Metrics, traces and logs',
          about: 'OpenTelemetry, Prometheus, pino, channels',
        },
        document: 'docs/observability.md',
      },
      {
        ...{
          name: 'troubleshooting',
          title: 'Troubleshooting',
          about: 'Each message: its cause, its fate, what to do',
        },
        document: 'docs/troubleshooting.md',
      },
      {
        ...{ name: 'cli', title: 'Command line', about: 'The program zkwire, for shells and scripts' },
        document: 'docs/cli.md',
      },
      {
        ...{ name: 'runtimes', title: 'Runtimes', about: 'Node, Bun, Deno, workers and browsers' },
        document: 'docs/runtimes.md',
      },
      {
        ...{ name: 'coming-from', title: 'Coming from others', about: 'What concerns each library, and its page' },
        document: 'docs/coming-from.md',
      },
      {
        ...{
          name: 'from-curator',
          title: 'From Apache Curator',
          about: 'Each part of it, and the code before and after',
        },
        document: 'docs/from-curator.md',
      },
      {
        ...{ name: 'from-kazoo', title: 'From kazoo', about: 'Each part of it, and the code before and after' },
        document: 'docs/from-kazoo.md',
      },
      {
        ...{
          name: 'from-node-zookeeper-client',
          title: 'From node-zookeeper-client',
          about: 'All its calls, before and after',
        },
        document: 'docs/from-node-zookeeper-client.md',
      },
      {
        ...{ name: 'from-zookeeper', title: 'From npm zookeeper', about: 'All its calls, before and after' },
        document: 'docs/from-zookeeper.md',
      },
      {
        ...{ name: 'changelog', title: 'Changelog', about: 'What each version has, and what changed' },
        document: 'CHANGELOG.md',
      },
    ],
  },
  {
    title: 'Understand',
    guides: [
      {
        ...{ name: 'herd', title: 'What a herd costs', about: 'Five locks, from 59 MB for a release to 544 bytes' },
        document: 'docs/herd.md',
      },
      {
        ...{
          name: 'choosing',
          title: 'Which lock service',
          about: 'ZooKeeper, etcd, Redis and PostgreSQL on the same axes',
        },
        document: 'docs/choosing.md',
      },
      {
        ...{ name: 'protocol', title: 'The protocol', about: 'Every byte, from the handshake to a lock' },
        document: 'docs/protocol.md',
      },
      {
        ...{ name: 'teaching', title: 'Teach it', about: 'Ninety minutes: a plan, questions, exercises, a sheet' },
        document: 'docs/teaching.md',
      },
      {
        ...{
          name: 'judge',
          title: 'Judge locks',
          about: 'Copies of any program, with faults: what is wrong, frame by frame',
        },
        document: 'docs/judge.md',
      },
      {
        ...{ name: 'teaching-sheet', title: 'Sheet for students', about: 'Words, guesses and exercises, on two pages' },
        document: 'docs/teaching-sheet.md',
      },
      {
        ...{
          name: 'teaching-solutions',
          title: 'Solutions for teachers',
          about: 'What is wrong in each exercise, and a program that is right',
        },
        document: 'docs/teaching-solutions.md',
      },
      {
        ...{ name: 'faults', title: 'Faults', about: 'What the client does about each fault, and the test for it' },
        document: 'docs/fault-matrix.md',
      },
    ],
  },
]

export const guides: readonly Guide[] = groups.flatMap(group => group.guides)

/** The sections of the README that are on no page: they are for readers of the repository. */
export const leftOut = ['Versions', 'Pages']
