// `zkwire shell`.
import { constants } from 'node:os'
import { createInterface } from 'node:readline'
import { ReadStream, WriteStream } from 'node:tty'
import type { Client, State } from '../../client/index.ts'
import { forwardAbort, onAbort } from '../../runtime/abort.ts'
import { command, type Context } from '../runner/command.ts'
import { Interrupted, statuses } from '../runner/failure.ts'
import { OutageNotices } from '../runner/outage-notices.ts'
import { withTimeout } from '../runner/run.ts'
import { suspend } from '../runner/signals.ts'
import { escaped } from '../runner/text.ts'
import { complete } from '../shell/completion.ts'
import { History, historyFile } from '../shell/history.ts'
import { runScript, Shell } from '../shell/shell.ts'
import { ShellSession } from '../shell/shell-session.ts'
import { Terminal } from '../shell/terminal.ts'

/** How long the completion of a path waits for the server, in milliseconds. */
const COMPLETION_TIMEOUT = 500

export const shell = command({
  name: 'shell',
  summary: 'runs commands at a prompt, or from stdin, in one session',
  details: [
    'All commands work without `zkwire`, in one session. cd changes the current node, and Tab completes commands, options ' +
      'and paths. .watch PATH prints events while you type. Ctrl-C ends the command that runs, and Ctrl-D the shell. A new ' +
      'session begins if the old one ends.',
    'The history is kept in $XDG_STATE_HOME/zkwire/history if $XDG_STATE_HOME is set, without lines that start with a space.',
    'If stdin is no terminal, the shell runs its lines. It ends at the first that fails, with its exit status; with ' +
      '--keep-going it runs all of them.',
  ],
  arguments: [],
  options: { 'keep-going': { type: 'boolean', short: 'k', help: 'runs the lines of stdin after one has failed' } },
  examples: ['zkwire shell --server zk1:2181', "printf 'cd /app\\nls\\n' | zkwire shell"],
  hasJson: false,
  endsItself: true,
  async run(context) {
    const { stdin, out } = context
    const { stream: stdout } = out
    return stdin instanceof ReadStream && stdout instanceof WriteStream
      ? interactive(context, stdin, stdout)
      : script(context, context.values['keep-going'])
  },
})

async function script(context: Context, keepGoing: boolean): Promise<number> {
  const { stdin, out, err, env, clock, signal, host } = context
  const target = await context.sessions.target()
  const notices = new OutageNotices(text => err.notice(`zkwire shell: ${text}`), clock)
  const session = new ShellSession({ ...target, options: notices.addTo(target.options) }, signal, () => undefined)
  // The script is no input of the programs in it.
  const shared = { stdout: out.stream, stderr: err.stream, env, clock, commands: host.commands }
  const shell = new Shell({ ...shared, programStdin: 'ignore' }, session, text => out.stream.write(text))
  const ending = new AbortController()
  const stopForwarding = forwardAbort(signal, ending)
  const stopHandling = handleSignals(context, shell, ending)
  try {
    await session.open()
    return await runScript(shell, createInterface({ input: stdin }), { keepGoing, signal: ending.signal })
  } finally {
    stopHandling()
    stopForwarding()
    await shell.close()
    notices.stop()
  }
}

/** Hands all signals to the command that runs. Those that end commands then end the shell too, except for Ctrl-C. */
function handleSignals(
  { signals, signal }: Context,
  shell: Shell,
  ending: AbortController,
  onCtrlC = (): void => ending.abort(new Interrupted('SIGINT', constants.signals.SIGINT)),
): () => void {
  // The output is closed.
  const stopListening = onAbort(signal, () => shell.deliver('SIGTERM'))
  const stopHandling = signals.handle(name => {
    const isDelivered = shell.deliver(name)
    if (name === 'SIGINT') onCtrlC()
    else if (name === 'SIGTERM' || name === 'SIGHUP') ending.abort(new Interrupted(name, constants.signals[name]))
    else if (name === 'SIGTSTP' && !isDelivered) suspend()
  })
  return () => {
    stopListening()
    stopHandling()
  }
}

async function interactive(context: Context, stdin: ReadStream, stdout: WriteStream): Promise<number> {
  const { err, env, clock, host } = context
  const target = await context.sessions.target()
  const ending = new AbortController()
  const stopForwarding = forwardAbort(context.signal, ending)
  let terminal: Terminal | undefined
  const print = (text: string) => (terminal === undefined ? stdout.write(text) : terminal.print(text))
  const notices = new OutageNotices(text => print(`${text}\n`), clock)
  const session = new ShellSession({ ...target, options: notices.addTo(target.options) }, ending.signal, state => {
    terminal?.setPrompt(prompt())
    if (ending.signal.aborted || !isEnd(state)) return
    print(`${ends[state]}.\n`)
    if (state === 'expired') void session.reopen()
  })
  const shell = new Shell(
    { stdout, stderr: err.stream, env, clock, commands: host.commands, programStdin: host.programStdin },
    session,
    print,
  )
  const prompt = () => promptOf(target.servers, session.state, shell.current)
  const ask = <T>(question: (zk: Client, signal: AbortSignal) => Promise<T>, otherwise: T): Promise<T> =>
    withTimeout(clock, COMPLETION_TIMEOUT, async signal => question(await session.open(), signal)).catch(
      () => otherwise,
    )
  try {
    await session.open()
    terminal = new Terminal({
      stdin,
      stdout,
      history: new History(historyFile(env)),
      complete: line =>
        complete(line, {
          commands: shell.commands,
          current: shell.current,
          hasConnectionOptions: false,
          childrenOf: path => ask(async (zk, signal) => (await zk.getChildren(path, { signal })).children, []),
          hasChildren: path =>
            ask(async (zk, signal) => ((await zk.exists(path, { signal }))?.numChildren ?? 0) > 0, false),
        }),
    })
    const stopHandling = handleSignals(context, shell, ending, () => terminal?.interrupt())
    const stopListening = onAbort(ending.signal, () => terminal?.close())
    try {
      await readLines(shell, terminal, prompt)
      ending.signal.throwIfAborted()
      return statuses.ok
    } finally {
      stopListening()
      stopHandling()
    }
  } finally {
    terminal?.close()
    ending.abort()
    stopForwarding()
    await shell.close()
    notices.stop()
  }
}

async function readLines(shell: Shell, terminal: Terminal, prompt: () => string): Promise<void> {
  while (!shell.isEnding) {
    const line = await terminal.readLine(prompt())
    terminal.release()
    if (line === undefined) break
    await shell.execute(line)
  }
}

/** The states of a session that has ended, in words. */
const ends = {
  expired: 'The session has expired, so its ephemeral nodes and locks are gone: a new one begins',
  authFailed: 'The server has refused the credentials',
  closed: 'The session is closed',
} as const

const isEnd = (state: State): state is keyof typeof ends => state in ends

/** Shows the server, so that a user does not take one ensemble for another, and the state unless it is connected. */
function promptOf(servers: string, state: State, current: string): string {
  const shown = servers.length > LONGEST_SERVERS ? `${servers.slice(0, LONGEST_SERVERS)}…` : servers
  return `${escaped(shown)}${state === 'connected' ? '' : ` (${stateTexts[state] ?? state})`} ${escaped(current)}> `
}

const LONGEST_SERVERS = 30

const stateTexts: Partial<Record<State, string>> = { connectedReadOnly: 'read-only' }
