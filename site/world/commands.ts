// What each command does to a simulation.
import type { Machine, Simulation } from './simulation.ts'
import type { Command } from './story.ts'

/** The number of the operator, a client that only deletes nodes. */
const OPERATOR = 0
/** How long a server that is restarted is away, in milliseconds. */
const RESTART = 1000

/** Does what the command says, if it is possible now. */
export function doIn(simulation: Simulation, command: Command): void {
  const { members } = simulation.server
  switch (command.kind) {
    case 'delete node':
      return operate(simulation, command.path)
    case 'restart server':
      return restart(simulation, command.server)
    case 'cut off':
      return members[command.server - 1]?.cutOff()
    case 'heal':
      return members[command.server - 1]?.heal()
    case 'lag':
      return simulation.lag(command.server, command.seconds)
    case 'join':
      return join(simulation, command.client)
    default: {
      const machine = simulation.machines.get(command.client)
      if (machine !== undefined && !machine.process.isDead) doTo(simulation, machine, command)
    }
  }
}

type CommandOfClient = Exclude<Command, { kind: 'delete node' | 'restart server' | 'cut off' | 'heal' | 'lag' }>

function doTo(simulation: Simulation, machine: Machine, command: CommandOfClient): void {
  const { process, line, program } = machine
  const inProcess = (task: () => Promise<void>) => process.run(() => void task())
  switch (command.kind) {
    case 'release':
      return inProcess(() => program.release())
    case 'join':
      return inProcess(() => program.join())
    case 'write':
      return inProcess(() => program.write(command.protection))
    case 'call':
      return inProcess(() => program.call(command.call))
    case 'cut':
      return line.cut()
    case 'lose answer':
      line.losesNextAnswer = true
      return
    case 'expire':
      if (program.client !== undefined) simulation.server.expireSession(program.client.sessionId)
      return
    case 'kill':
      process.die()
      simulation.endTaking(machine.id)
      return line.hangUp()
    case 'stop':
      return stop(simulation, machine, command.seconds * 1000)
    case 'unplug':
      return unplug(simulation, machine, command.seconds * 1000)
  }
}

function stop({ clock, now }: Simulation, machine: Machine, ms: number): void {
  const { process, program } = machine
  if (process.isStopped) return
  program.noteLease()
  process.stop()
  machine.stoppedUntil = now + ms
  clock.setTimeout(() => {
    machine.stoppedUntil = undefined
    process.resume()
  }, ms)
}

function unplug({ clock, now }: Simulation, machine: Machine, ms: number): void {
  const { line } = machine
  if (line.isUnplugged) return
  line.unplug()
  machine.unpluggedUntil = now + ms
  clock.setTimeout(() => {
    machine.unpluggedUntil = undefined
    line.plug()
  }, ms)
}

/** A client that is dead, or whose session has ended, starts with a new process. */
function join(simulation: Simulation, client: number): void {
  const machine = simulation.machines.get(client)
  if (machine === undefined) return
  const { process, program } = machine
  if (process.isDead || program.isOver) void simulation.newMachine(client).program.run()
  else process.run(() => void program.join())
}

function restart(simulation: Simulation, id: number): void {
  const { members } = simulation.server
  const isSingle = members.length === 0 && id === 1
  const server = isSingle ? simulation.server : members[id - 1]
  if (server === undefined) return
  simulation.isServerAway = isSingle
  void server.stop()
  simulation.later(RESTART, () => {
    simulation.isServerAway = false
    void server.start()
  })
}

function operate(simulation: Simulation, path: string): void {
  simulation.retire(OPERATOR)
  const { program } = simulation.newMachine(OPERATOR)
  void program.deleteOnce(path).then(() => simulation.retire(OPERATOR))
}
