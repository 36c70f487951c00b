// Reads the public names of the package, with their docstrings, by TypeDoc.
// May import: bench/report/html.ts, site/pages/markdown.ts, prettier, typedoc.
import {
  Application,
  Comment,
  ReflectionKind,
  type DeclarationReflection,
  type ParameterReflection,
  type Reflection,
  type SignatureReflection,
  type SomeType,
} from 'typedoc'
import { commentOf, type Described } from './comment.ts'

export interface Parameter {
  name: string
  type: string
  isOptional: boolean
  /** Markdown, as every text of a comment. */
  text: string
}

export interface Signature extends Described {
  /** As TypeScript would declare it. */
  code: string
  parameters: readonly Parameter[]
}

export type Kind = 'class' | 'interface' | 'type' | 'function' | 'constant' | 'namespace'

export interface Member {
  name: string
  kind: 'constructor' | 'property' | 'method'
  /** One for each overload. A property has one. */
  signatures: readonly Signature[]
}

export interface Entry {
  name: string
  kind: Kind
  signatures: readonly Signature[]
  members: readonly Member[]
  /** The names in a namespace. */
  entries: readonly Entry[]
  /** The entry point that declares it, if this one only exports it too. */
  alsoIn?: string
}

export interface EntryPoint {
  /** What users import, such as `zkwire/recipes`. */
  name: string
  entries: readonly Entry[]
}

const KINDS: ReadonlyMap<ReflectionKind, Kind> = new Map([
  [ReflectionKind.Class, 'class'],
  [ReflectionKind.Interface, 'interface'],
  [ReflectionKind.TypeAlias, 'type'],
  [ReflectionKind.Function, 'function'],
  [ReflectionKind.Variable, 'constant'],
  [ReflectionKind.Namespace, 'namespace'],
])

/**
 * @param root the root of the repository
 * @param files the source file of each entry point, by the name that users import; the first that declares a name owns it
 * @throws Error if TypeDoc reports a problem of the docstrings
 */
export async function readReference(root: string, files: ReadonlyMap<string, string>): Promise<EntryPoint[]> {
  const app = await Application.bootstrap({
    entryPoints: [...files.values()].map(file => `${root}/${file}`),
    tsconfig: `${root}/tsconfig.build.json`,
    basePath: root,
    readme: 'none',
    excludePrivate: true,
    excludeProtected: true,
    excludeInternal: true,
    excludeExternals: true,
    disableSources: true,
    disableGit: true,
    sort: ['source-order'],
    sortEntryPoints: false,

    validation: { invalidLink: true, notExported: false, notDocumented: false },
    logLevel: 'Warn',
  })
  // It also warns if mocha has loaded it twice, by `require` and by `import`.
  app.logger.resetWarnings()
  const project = await app.convert()
  if (project === undefined) throw new Error('TypeDoc cannot read the sources')
  app.validate(project)
  if (app.logger.hasErrors() || app.logger.hasWarnings()) throw new Error('TypeDoc found problems, listed above')
  const modules = project.children ?? []
  return [...files.keys()].map((name, i) => ({
    name,
    entries: entriesOf(modules[i]?.children ?? [], [...files.keys()]),
  }))
}

function entriesOf(reflections: readonly DeclarationReflection[], names: readonly string[]): Entry[] {
  // A record and its type have one name. TypeDoc lists both, although an entry point may export the type only.
  const twins = new Map<string, DeclarationReflection[]>()
  for (const each of reflections) twins.set(each.name, [...(twins.get(each.name) ?? []), each])
  return [...twins.values()]
    .flatMap(([first, second]) => (first === undefined ? [] : entryOf(first, second, names)))
    .sort((a, b) => a.name.localeCompare(b.name, 'en'))
}

function entryOf(
  declared: DeclarationReflection,
  twin: DeclarationReflection | undefined,
  names: readonly string[],
): Entry {
  const reflection =
    'getTargetReflectionDeep' in declared ? (declared as never as Reference).getTargetReflectionDeep() : declared
  const kind = KINDS.get(reflection.kind)
  if (kind === undefined) throw new Error(`${reflection.name} is neither a class nor another kind of public name`)
  const owner = reflection === declared ? undefined : ownerOf(reflection, names)
  return {
    name: declared.name,
    kind,
    signatures: signaturesOf(reflection, kind, twin),
    members: membersOf(reflection, kind, twin)
      .filter(({ name }) => name !== '[inspect]')
      .map(memberOf),
    entries: kind === 'namespace' ? entriesOf(reflection.children ?? [], names) : [],
    ...(owner !== undefined && { alsoIn: owner }),
  }
}

/** The members of a class or an interface, and the fields of a type that is declared as an object or a record. */
function membersOf(
  reflection: DeclarationReflection,
  kind: Kind,
  twin: DeclarationReflection | undefined,
): readonly DeclarationReflection[] {
  if (kind === 'class' || kind === 'interface') return reflection.children ?? []
  const type = kind === 'type' ? declaredType(reflection, twin) : undefined
  return type?.type === 'reflection' ? (type.declaration.children ?? []) : []
}

interface Reference {
  getTargetReflectionDeep(): DeclarationReflection
}

/** The modules have the order of the files, because they are not sorted. */
function ownerOf(reflection: Reflection, names: readonly string[]): string | undefined {
  let module: Reflection = reflection
  while (module.parent !== undefined && !module.parent.isProject()) module = module.parent
  const at = module.project.children?.findIndex(each => each === module) ?? -1
  return names[at]
}

function signaturesOf(reflection: DeclarationReflection, kind: Kind, twin?: DeclarationReflection): Signature[] {
  const { name, type, signatures } = reflection
  if (kind === 'function') return (signatures ?? []).map(each => callable(each, `function ${name}`))
  // The comment on the value of a record may be an example only.
  const told = [reflection.comment, twin?.comment].find(comment => comment !== undefined && comment.summary.length > 0)
  const described = commentOf(told ?? reflection.comment ?? twin?.comment)
  const generic = `${name}${genericsOf(reflection.typeParameters)}`
  const code = () => {
    if (kind === 'type') return `type ${generic} = ${typeOf(declaredType(reflection, twin))}`
    if (kind === 'constant') return `const ${name}: ${typeOf(type)}`
    if (kind === 'namespace') return `import { ${name} } from 'zkwire/protocol'`
    const parents = (reflection.extendedTypes ?? []).filter(isShown).map(String)
    return `${kind} ${generic}${parents.length === 0 ? '' : ` extends ${parents.join(', ')}`}`
  }
  return [{ ...described, code: code(), parameters: [] }]
}

/** Parents that are no public name are not shown: their members are listed as the child's own. */
const isShown = (parent: SomeType): boolean =>
  parent.type === 'reference' &&
  (parent.reflection !== undefined || parent.package === 'typescript') &&
  parent.name !== 'Omit'

/** The type of a name. That of a record has the fields that are the argument of its codec's type. */
function declaredType(reflection: DeclarationReflection, twin?: DeclarationReflection): SomeType | undefined {
  if (twin === undefined) return reflection.type
  for (const { type } of [reflection, twin])
    if (type?.type === 'reference' && type.name === 'Codec') return type.typeArguments?.[0]
  return reflection.type
}

function memberOf(reflection: DeclarationReflection): Member {
  const { name, kind, type, flags, comment, signatures, getSignature } = reflection
  if (kind === ReflectionKind.Constructor)
    return {
      name: 'constructor',
      kind: 'constructor',
      signatures: (signatures ?? []).map(each => callable(each, `new ${each.name}`)),
    }
  const prefix = flags.isStatic ? `static ` : ''
  if (signatures !== undefined)
    return {
      name: shown(name),
      kind: 'method',
      signatures: signatures.map(each => callable(each, `${prefix}${shown(name)}`)),
    }
  const declared = getSignature?.type ?? type
  const isMethod = declared?.type === 'reflection' && declared.declaration.signatures !== undefined
  const code = `${prefix}${flags.isReadonly || getSignature ? 'readonly ' : ''}${shown(name)}${flags.isOptional ? '?' : ''}: ${typeOf(declared)}`
  const own = comment ?? getSignature?.comment
  const described = commentOf(own ?? (isMethod ? declared.declaration.signatures?.[0]?.comment : undefined))
  return { name: shown(name), kind: 'property', signatures: [{ ...described, code, parameters: [] }] }
}

function shown(name: string): string {
  if (name.startsWith('[')) return name.startsWith('[Symbol') ? name : name.replace('[', '[Symbol.')
  // The name of a Standard Schema's property, `~standard`, is no identifier.
  return /^[#\w$]+$/.test(name) ? name : `'${name}'`
}

function callable(signature: SignatureReflection, start: string): Signature {
  const parameters = (signature.parameters ?? []).map(parameterOf)
  const list = parameters.map(({ name, type, isOptional }) => `${name}${isOptional ? '?' : ''}: ${type}`)
  const result = start.startsWith('new ') ? '' : `: ${typeOf(signature.type)}`
  return {
    ...commentOf(signature.comment),
    code: `${start}${genericsOf(signature.typeParameters)}(${list.join(', ')})${result}`,
    parameters,
  }
}

function parameterOf({ name, type, flags, defaultValue, comment }: ParameterReflection): Parameter {
  return {
    name: flags.isRest ? `...${name}` : name === '__namedParameters' ? 'options' : name,
    type: typeOf(type),
    isOptional: flags.isOptional || defaultValue !== undefined,
    text: comment === undefined ? '' : Comment.combineDisplayParts(comment.summary).trim(),
  }
}

function genericsOf(parameters: readonly { name: string; type?: SomeType; default?: SomeType }[] | undefined): string {
  if (parameters === undefined || parameters.length === 0) return ''
  const list = parameters.map(
    ({ name, type, default: standard }) =>
      `${name}${type ? ` extends ${typeOf(type)}` : ''}${standard ? ` = ${typeOf(standard)}` : ''}`,
  )
  return `<${list.join(', ')}>`
}

/** TypeDoc writes the property -1 of a type without quotes. */
const typeOf = (type: SomeType | undefined): string =>
  type === undefined ? 'void' : String(type).replaceAll(/(?<=[{;] )-\d+(?=\??:)/g, "'$&'")
