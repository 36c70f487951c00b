// `npm run bench -- NAME`: runs one of the programs below, with the rest of the command line. Without a name it lists them.
import { namedProgram, startProgram, type NamedProgram } from '../environment/named-programs.ts'

const programs: Readonly<Record<string, NamedProgram>> = {
  peers: { file: 'bench/peers/main.ts', about: 'the locks of other libraries beside ours, in five minutes' },
  services: {
    file: 'bench/services/main.ts',
    about: 'the locks of Redis, etcd and PostgreSQL beside those of ZooKeeper, in ten minutes',
  },
  docs: { file: 'test/docs/measure.ts', about: 'measures all runs that documents quote, and writes these documents' },
  explore: { file: 'bench/explore/main.ts', about: 'a page on which you choose the axes of the figures in docs' },
  compare: { file: 'bench/compare/main.ts', about: 'compares two results of npm start, or of peers' },
  forecast: { file: 'bench/model/main.ts', about: 'at how many contenders a lock breaks' },
  join: { file: 'bench/fleet/main.ts', about: 'takes part in the run of another machine' },
  growth: {
    file: 'bench/growth/main.ts',
    about: 'whether costs stay the same at scale; --quick takes less than a minute',
  },
  throughput: { file: 'bench/throughput/main.ts', about: 'the cost of calls beside other clients', needsDist: true },
  calls: { file: 'bench/throughput/calls.ts', about: 'the cost of calls beside another commit', needsDist: true },
  count: { file: 'bench/throughput/counts.ts', about: 'what a call costs, counted for a test', needsDist: true },
  restart: { file: 'bench/restart/main.ts', about: 'a rolling restart under services of three libraries' },
  cache: { file: 'bench/cache/main.ts', about: "time and memory of a cache beside Curator's" },
  server: { file: 'bench/micro/server-life.ts', about: 'the time to start, use and close an embedded server' },
  cli: { file: 'bench/micro/cli-start.ts', about: 'the time from start to end of `zkwire get`', needsDist: true },
  worker: { file: 'bench/micro/worker-start.ts', about: 'the time to start a worker in workerd', needsDist: true },
  size: { file: 'bench/micro/size.ts', about: 'the size of a bundle of the client', needsDist: true },
  playground: { file: 'site/playground/draw-rate.ts', about: 'how often Chromium draws 60 clients, on one core' },
}

const program = namedProgram('npm run bench', programs)
if (program !== undefined) await startProgram(program)
