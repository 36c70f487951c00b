// Lays out the declarations of the reference, as Prettier lays out code.
import { format } from 'prettier'
import type { Entry, Signature } from './reference.ts'

const options = { parser: 'typescript', printWidth: 84, semi: false, singleQuote: true, arrowParens: 'avoid' } as const

/**
 * Returns the declaration with its lines broken.
 * @param code a declaration at the top level of a module, or a member of a class
 */
export async function laidOut(code: string): Promise<string> {
  if (/^(class|interface) [^{]*$/.test(code)) return code
  if (/^(type|const|function|import) /.test(code)) {
    // Names of operations, such as `delete`, are reserved words of TypeScript.
    const [, name = ''] = /^(?:const|function) (\w+)/.exec(code) ?? []
    const declared = code.replace(/^(const|function) \w+/, 'declare $1 _')
    return (await format(declared, options)).replace(/^declare (\w+) _/, `$1 ${name}`).trim()
  }
  const isConstructor = code.startsWith('new ')
  // Type parameters may have type arguments in their defaults, and end before the parameters.
  const [name = ''] = /^new \w+(<.*?>)?(?=\()/.exec(code) ?? []
  const member = isConstructor ? code.replace(name, 'constructor') : code
  const lines = (await format(`declare class C {\n${member}\n}`, options)).trim().split('\n').slice(1, -1)
  return lines
    .map(line => line.replace(/^ {2}/, ''))
    .join('\n')
    .replace(/^constructor/, name)
}

const laidOutSignatures = (signatures: readonly Signature[]): Promise<Signature[]> =>
  Promise.all(signatures.map(async signature => ({ ...signature, code: await laidOut(signature.code) })))

/** Lays out the declarations of a name and of its members. */
export async function laidOutEntry(entry: Entry): Promise<Entry> {
  return {
    ...entry,
    signatures: await laidOutSignatures(entry.signatures),
    members: await Promise.all(
      entry.members.map(async member => ({ ...member, signatures: await laidOutSignatures(member.signatures) })),
    ),
    entries: await Promise.all(entry.entries.map(laidOutEntry)),
  }
}
