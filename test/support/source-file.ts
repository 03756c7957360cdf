import { readdirSync, readFileSync } from 'node:fs'
import { posix, resolve } from 'node:path'
import { parseAst } from 'vitest/node'

/** An import, re-export, `import()` or `import('…').Type`. */
export interface Import {
  /** The path below `src` for a project file, else the module specifier. */
  readonly module: string
  readonly isOurs: boolean
  /** Whether the statement imports only types, so that type stripping removes it. */
  readonly typeOnly: boolean
  readonly line: number
}

/** A use of the environment, the clock or randomness in a file, or a default export. */
export interface Use {
  readonly what: 'process.env' | 'clock' | 'randomness' | 'default export'
  readonly text: string
  readonly line: number
}

/** The properties of a source file that the architecture test checks. */
export interface SourceFile {
  /** The path below `src`. */
  readonly path: string
  readonly imports: readonly Import[]
  readonly uses: readonly Use[]
}

interface Node {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [field: string]: unknown
}

const randomFunctions = ['randomBytes', 'randomUUID', 'randomInt', 'getRandomValues']

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && typeof value.type === 'string'

/** Returns the name of an identifier, or the text of a string literal. */
const nameOf = (node: unknown): string | undefined => {
  if (!isNode(node)) return undefined
  const name = node.type === 'Literal' ? node.value : node.name
  return typeof name === 'string' ? name : undefined
}

const children = (node: Node): Node[] =>
  Object.values(node).flatMap((value) => (Array.isArray(value) ? value : [value]).filter(isNode))

/** Yields the node and all its descendants. */
const walk = function* (node: Node): Generator<Node> {
  yield node
  for (const child of children(node)) yield* walk(child)
}

/** Returns the module from which a node imports. */
const importedModule = (node: Node): string | undefined => {
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportNamedDeclaration':
    case 'ExportAllDeclaration':
    case 'ImportExpression':
    case 'TSImportType':
      return nameOf(node.source)
    default:
      return undefined
  }
}

const isTypeOnly = (node: Node): boolean =>
  node.type === 'TSImportType' || node.importKind === 'type' || node.exportKind === 'type'

const usedBy = (node: Node, text: (node: unknown) => string): Use['what'] | undefined => {
  const object = text(node.object)
  const property = nameOf(node.property)
  switch (node.type) {
    case 'MemberExpression':
      if (object === 'process' && property === 'env') return 'process.env'
      if (object === 'Date' && property === 'now') return 'clock'
      if (object === 'Math' && property === 'random') return 'randomness'
      if (/crypto$/i.test(object) && randomFunctions.includes(property ?? '')) return 'randomness'
      return undefined
    case 'NewExpression':
    case 'CallExpression':
      // `new Date(time)` converts its argument instead of reading the clock.
      return text(node.callee) === 'Date' && !children(node).some((child) => child !== node.callee)
        ? 'clock'
        : undefined
    case 'VariableDeclarator':
      return text(node.init) === 'process' && /\benv\b/.test(text(node.id))
        ? 'process.env'
        : undefined
    case 'ImportDeclaration': {
      const names = children(node).map((specifier) => nameOf(specifier.imported) ?? '')
      const from = nameOf(node.source)?.replace(/^node:/, '')
      if (from === 'process' && names.includes('env')) return 'process.env'
      if (from === 'crypto' && names.some((name) => randomFunctions.includes(name)))
        return 'randomness'
      return undefined
    }
    case 'ExportDefaultDeclaration':
      return 'default export'
    case 'ExportSpecifier':
      return nameOf(node.exported) === 'default' ? 'default export' : undefined
    default:
      return undefined
  }
}

/** Parses the text of the file `path` below `src`. */
export const parseSource = (path: string, source: string): SourceFile => {
  const text = (node: unknown): string => (isNode(node) ? source.slice(node.start, node.end) : '')
  const imports: Import[] = []
  const uses: Use[] = []
  const program: unknown = parseAst(source, { lang: 'ts' }, path)
  if (!isNode(program)) throw new Error(`${path} cannot be parsed.`)
  for (const node of walk(program)) {
    const line = source.slice(0, node.start).split('\n').length
    const module = importedModule(node)
    if (module !== undefined) {
      const isOurs = module.startsWith('.')
      const target = isOurs ? posix.join(posix.dirname(path), module) : module
      imports.push({ module: target, isOurs, typeOnly: isTypeOnly(node), line })
    }
    const what = usedBy(node, text)
    if (what) uses.push({ what, text: text(node).split('\n')[0] ?? '', line })
  }
  return { path, imports, uses }
}

/** Parses every TypeScript file below `src`. */
export const readSources = (): SourceFile[] => {
  const src = resolve(import.meta.dirname, '../../src')
  return readdirSync(src, { recursive: true, encoding: 'utf8' })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => path.endsWith('.ts'))
    .sort()
    .map((path) => parseSource(path, readFileSync(`${src}/${path}`, 'utf8')))
}
