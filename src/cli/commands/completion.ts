// `zkwire completion`. The scripts ask this program for the candidates, so that one code completes for all shells.
import { parseArgs } from 'node:util'
import type { Client } from '../../client/index.ts'
import { leadingOptions, optionsOf } from '../runner/arguments.ts'
import { command, type Command, type Context, type ParsedValues } from '../runner/command.ts'
import { withTimeout } from '../runner/run.ts'
import { candidatesOf, type Candidate } from '../shell/completion.ts'
import { wordsOf } from '../shell/words.ts'

/** How long the completion of a path waits for a server, in milliseconds. */
const TIMEOUT = 2000

export const completion = command({
  name: 'completion',
  summary: 'prints a script that completes commands, options and paths of nodes in a shell',
  details: [
    'The script asks zkwire for the candidates. Paths are those of the server that the command line names, or ' +
      '$ZKWIRE_SERVER. With CMD…, which only the script passes, prints the candidates for the last word.',
  ],
  arguments: [{ name: 'SHELL', choices: ['bash', 'zsh', 'fish'], help: 'the shell: bash, zsh or fish' }],
  options: {},
  takesProgram: true,
  connects: false,
  hasJson: false,
  examples: [
    'eval "$(zkwire completion bash)"          # in ~/.bashrc; for zsh the same with zsh, in ~/.zshrc',
    'zkwire completion fish > ~/.config/fish/completions/zkwire.fish',
  ],
  async run(context) {
    const { argument, program, out } = context
    const shell = shells[argument('SHELL') as keyof typeof shells]
    if (program.length === 0) return out.write(shell.script)
    const { words, shown } = shell.read(program)
    const candidates = await candidatesFor(words, context)
    // No command, option or path starts with a colon.
    if (candidates === 'files') return out.line(':files')
    await out.write(candidates.flatMap(each => shown(each) ?? []).join(''))
  },
})

/** @param words the command line, with the name of the program */
async function candidatesFor(
  [, ...words]: readonly string[],
  { commands, host, clock }: Context,
): Promise<readonly Candidate[] | 'files'> {
  const [before, text] = [words.slice(0, -1), words.at(-1) ?? '']
  const { options, rest } = leadingOptions(before)
  const [name = '', ...args] = rest
  const load = commands.get(name)
  const sessions = host.sessions(load === undefined ? {} : connectionOf(await load(), [...options, ...args]))
  const ask = <T>(question: (zk: Client, signal: AbortSignal) => Promise<T>, otherwise: T): Promise<T> =>
    withTimeout(clock, TIMEOUT, async signal => question(await sessions.open(), signal)).catch(() => otherwise)
  return candidatesOf(before, text, {
    commands,
    current: undefined,
    hasConnectionOptions: host.hasConnectionOptions,
    childrenOf: path => ask(async (zk, signal) => (await zk.getChildren(path, { signal })).children, []),
    hasChildren: path => ask(async (zk, signal) => ((await zk.exists(path, { signal }))?.numChildren ?? 0) > 0, false),
  })
}

/** Returns the options of a command line that is not complete. An option that lacks its value is left out. */
function connectionOf(each: Command, args: readonly string[]): ParsedValues {
  const options = Object.fromEntries(
    Object.entries(optionsOf(each, true)).map(([name, { type, short, multiple = false }]) => [
      name,
      { type, multiple, ...(short === undefined ? {} : { short }) },
    ]),
  )
  const { values } = parseArgs({ args: [...args], options, strict: false, allowPositionals: true })
  const isWhole = ([name, value]: [string, unknown]) => typeof value !== 'boolean' || options[name]?.type === 'boolean'
  return Object.fromEntries(Object.entries(values).filter(isWhole))
}

/** How a shell passes its command line, and what it expects. */
interface Shell {
  readonly script: string
  /** Returns the words, and a function that writes a candidate as a line; undefined if it cannot be inserted. */
  read(program: readonly string[]): { words: readonly string[]; shown: (candidate: Candidate) => string | undefined }
}

const bash: Shell = {
  script: `_zkwire() {
  local candidate
  COMPREPLY=()
  while IFS= read -r candidate; do
    if [ "$candidate" = :files ]; then compopt -o default +o nospace; return; fi
    COMPREPLY+=("$candidate")
  done < <(zkwire completion bash -- "\${COMP_LINE:0:COMP_POINT}" "\${COMP_WORDS[COMP_CWORD]}" 2>/dev/null)
}
complete -o nospace -F _zkwire zkwire
`,
  // bash inserts a candidate as it is, so each character that it interprets is quoted here.
  read([typed = '', current = '']) {
    const { words, openQuote } = wordsOf(typed)
    const isNewWord = openQuote === undefined && /(^|[^\\])\s$/.test(typed)
    const last = isNewWord ? undefined : words.at(-1)
    const raw = last === undefined ? '' : typed.slice(last.start)
    // bash replaces only what follows an open quote, or the last of the characters in $COMP_WORDBREAKS.
    const kept = Math.max(openQuote?.length ?? 0, raw.endsWith(current) ? raw.length - current.length : 0)
    const quote = openQuote === undefined ? backslashed : openQuote === '"' ? inDoubleQuotes : inSingleQuotes
    return {
      words: [...words.map(({ text }) => text), ...(isNewWord ? [''] : [])],
      shown({ text, end }) {
        const quoted = quote(text)
        if (quoted === undefined) return undefined
        // bash closes the quote itself.
        const whole = openQuote === undefined ? quoted + end : openQuote + quoted + end.trim()
        return whole.startsWith(raw.slice(0, kept)) ? `${whole.slice(kept)}\n` : undefined
      },
    }
  },
}

/** All characters but those that no shell interprets within a word. */
const UNSAFE = /[^\w/.,:@%+=\u0080-\u{10ffff}-]/gu

const backslashed = (text: string): string => text.replaceAll(UNSAFE, each => `\\${each}`)

/** Returns undefined for a text that cannot be quoted so within the quote: ! means an earlier command there. */
const inDoubleQuotes = (text: string): string | undefined =>
  /[!"]/.test(text) ? undefined : text.replaceAll(/[\\$`]/g, each => `\\${each}`)

const inSingleQuotes = (text: string): string | undefined => (text.includes("'") ? undefined : text)

/** Returns a word without the quotes and backslashes with which the user has typed it. */
const unquotedWord = (typed: string): string => wordsOf(typed).words[0]?.text ?? ''

/** zsh and fish quote the candidates themselves, and add a space unless a slash is at the end. */
const unquoted = ({ text, end }: Candidate): string => `${text}${end === '/' ? '/' : ''}\n`

const zsh: Shell = {
  script: `_zkwire() {
  local -a candidates
  candidates=("\${(@f)$(zkwire completion zsh -- "\${(@)words[1,CURRENT]}" 2>/dev/null)}")
  if [[ $candidates[1] == :files ]]; then _files; return; fi
  compadd -S '' -- "\${(@M)candidates:#*/}"
  compadd -- "\${(@)candidates:#(|*/)}"
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
compdef _zkwire zkwire
`,
  read: words => ({ words: words.map(unquotedWord), shown: unquoted }),
}

const fish: Shell = {
  script: `function __zkwire_candidates
  set -l candidates (zkwire completion fish -- (commandline -opc) (commandline -ct) 2>/dev/null)
  if test "$candidates[1]" = :files
    __fish_complete_path (commandline -ct)
  else if test (count $candidates) -gt 0
    printf '%s\\n' $candidates
  end
end
complete -c zkwire -f -a '(__zkwire_candidates)'
`,
  // The last word is as the user has typed it.
  read: words => ({
    words: [...words.slice(0, -1), unquotedWord(words.at(-1) ?? '')],
    shown: unquoted,
  }),
}

const shells = { bash, zsh, fish } as const
