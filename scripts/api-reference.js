import { readFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { parseAst } from 'vitest/node'

/**
 * A node of the syntax tree.
 * @typedef {{ type: string, start: number, end: number, [field: string]: any }} Node
 */
/**
 * A declaration file. `declared` maps each name to the nodes that declare it, including the export statement.
 * @typedef {{ path: string, text: string, declared: Map<string, Node[]>, imported: Map<string, Origin>,
 *   exported: Map<string, Origin> }} File
 */
/**
 * The file that declares or re-exports a name, and the name in that file. `path` is omitted if another package declares
 * the name.
 * @typedef {{ path?: string, name: string }} Origin
 */
/**
 * A documented declaration.
 * @typedef {{ file: string, name: string, entry: string | undefined, docstring: string, code: string,
 *   members: readonly { name: string, docstring: string }[] }} Declaration
 */

const root = resolve(import.meta.dirname, '..')

/** Declarations that another reference page describes. */
const describedElsewhere = new Map([
  ['SettingsInput', 'The settings, as optional options. [Settings](settings.md) lists them.'],
  ['SettingValues', 'The types of the settings. [Settings](settings.md) lists them.'],
  ['Settings', 'All settings with their values. [Settings](settings.md) lists them.'],
  ['settings', 'The definitions of the settings. [Settings](settings.md) lists them.'],
  ['auditEvents', 'The built-in audit events. [The audit log](audit.md) lists them.'],
  ['en', 'The texts of the pages in English.'],
  ['languages', 'The texts of the pages by language.'],
  ['limitTable', 'The limits. [Operations](../operations.md#limits) lists them.'],
])

/** The page omits the types of these modules, because only this package uses and implements them. */
const undescribed = /^(?:store\/contract\/|store\/store\.d\.ts$|records\/context\.d\.ts$)/
/** The types of the omitted modules that applications use, and that the page describes. */
const describedAnyway = [
  'AroundStore',
  'ClockInDoubt',
  'NotOurUsers',
  'PostgresClient',
  'PostgresPool',
  'PostgresPoolClient',
  'StoreOperation',
  'StoreOpener',
  'StoreUnavailable',
  'StoreUnusable',
  'TransientsOpener',
]

/**
 * Reads the declarations of the built package.
 * @returns {readonly Declaration[]} the exports of each entry point, followed by the types that they refer to
 */
export const publicDeclarations = () => {
  /** @type {Map<string, File>} */
  const files = new Map()
  /** @param {string} path */
  const load = (path) => {
    const file = files.get(path) ?? parsed(path)
    files.set(path, file)
    return file
  }
  /**
   * Finds the declaration of a name that a file declares, imports or exports.
   * @param {string} path
   * @param {string} name
   * @returns {{ file: File, name: string, nodes: Node[] } | undefined}
   */
  const find = (path, name) => {
    const file = load(path)
    const origin = file.exported.get(name) ?? file.imported.get(name)
    const local = origin?.path === path ? origin.name : name
    const nodes = file.declared.get(local)
    if (nodes) return { file, name: local, nodes }
    const next = origin?.path === path ? file.imported.get(local) : origin
    return next?.path === undefined || next.path === path ? undefined : find(next.path, next.name)
  }
  const { exports } = JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8'))
  /** @type {{ entry: string | undefined, name: string, found: ReturnType<typeof find> }[]} */
  const waiting = Object.entries(exports).flatMap(([entry, { types }]) => {
    if (types === undefined) return []
    const file = load(resolve(root, types))
    return [...file.exported.keys()].map((name) => ({
      entry: entry.replace(/^\./, 'svc-oauth2server'),
      name,
      found: find(file.path, name),
    }))
  })
  /** @type {Map<string, Declaration>} */
  const all = new Map()
  for (const { entry, name, found } of waiting) {
    if (!found) continue
    const file = relative(resolve(root, 'dist'), found.file.path)
    const key = `${entry ?? ''} ${file} ${name}`
    const isKnown = all.has(key) || (!entry && [...all.values()].some(isSame(file, found.name)))
    const isHidden = undescribed.test(file) && !describedAnyway.includes(found.name)
    if (isKnown || isHidden) continue
    const elsewhere = describedElsewhere.get(found.name)
    all.set(key, { ...declarationOf(found, elsewhere), file, name, entry })
    if (elsewhere !== undefined) continue
    for (const node of found.nodes)
      for (const other of referencesIn(derivedMembers(node, found.file) ?? node))
        waiting.push({ entry: undefined, name: other, found: find(found.file.path, other) })
  }
  return [...all.values()]
}

/**
 * @param {string} file
 * @param {string} name
 * @returns {(one: Declaration) => boolean}
 */
const isSame = (file, name) => (one) => one.file === file && one.name === name

/**
 * @param {string} path
 * @returns {File}
 */
const parsed = (path) => {
  const text = readFileSync(path, 'utf8')
  /** @type {File} */
  const file = { path, text, declared: new Map(), imported: new Map(), exported: new Map() }
  /** @param {string} from @param {string} name @returns {Origin} */
  const originOf = (from, name) =>
    from.startsWith('.')
      ? { path: resolve(dirname(path), from.replace(/\.ts$/, '.d.ts')), name }
      : { name }
  const { body } = /** @type {{ body: Node[] }} */ (
    /** @type {unknown} */ (parseAst(text, { lang: 'dts' }))
  )
  for (const node of body) {
    const isExport = node.type === 'ExportNamedDeclaration'
    if (node.type === 'ImportDeclaration')
      for (const { local, imported } of node.specifiers)
        file.imported.set(local.name, originOf(node.source.value, imported?.name ?? local.name))
    const declaration = isExport ? node.declaration : node
    for (const name of namesOf(declaration)) {
      file.declared.set(name, [...(file.declared.get(name) ?? []), node])
      if (isExport) file.exported.set(name, { path, name })
    }
    if (!isExport || node.declaration) continue
    for (const { local, exported } of node.specifiers)
      file.exported.set(
        exported.name,
        node.source ? originOf(node.source.value, local.name) : { path, name: local.name },
      )
  }
  return file
}

/**
 * @param {Node | null} declaration
 * @returns {string[]}
 */
const namesOf = (declaration) =>
  declaration?.id
    ? [declaration.id.name]
    : (declaration?.declarations ?? []).map((/** @type {Node} */ one) => one.id.name)

/**
 * Returns the names of the types that a node refers to.
 * @param {unknown} node
 * @returns {Set<string>}
 */
const referencesIn = (node, names = new Set()) => {
  if (Array.isArray(node)) for (const one of node) referencesIn(one, names)
  else if (typeof node === 'object' && node !== null) {
    const { type, typeName, exprName, expression, superClass } = /** @type {Node} */ (node)
    const reference =
      type === 'TSTypeReference'
        ? typeName
        : type === 'TSTypeQuery'
          ? exprName
          : type === 'TSInterfaceHeritage' || type === 'TSClassImplements'
            ? expression
            : superClass
    if (reference?.type === 'Identifier') names.add(reference.name)
    for (const value of Object.values(node)) referencesIn(value, names)
  }
  return names
}

/**
 * @param {{ file: File, name: string, nodes: Node[] }} found
 * @param {string | undefined} elsewhere
 */
const declarationOf = ({ file, name, nodes }, elsewhere) => {
  const { text } = file
  const docstrings = nodes.map((node) => docstringBefore(text, node.start))
  const docstring = elsewhere ?? docstrings.find((one) => one !== '') ?? ''
  const code =
    elsewhere === undefined
      ? nodes
          .map((node) => {
            const members = derivedMembers(node, file)
            return members
              ? `interface ${name} {\n${members.map(memberText(text)).join('\n')}\n}`
              : withoutKeywords(text.slice(node.start, node.end))
          })
          .join('\n')
      : ''
  const members = elsewhere === undefined ? nodes.flatMap((node) => membersOf(node, text)) : []
  return { docstring, code, members }
}

/** The types that derive the members of a record from the fields of an entity. */
const derivations = ['RecordOf', 'SourceOf', 'InputOf']

/**
 * Returns the members that an interface derives from the fields of an entity; undefined for any other declaration.
 * @param {Node} node
 * @param {File} file
 * @returns {readonly { field: Node, value: Node, isOptional: boolean }[] | undefined}
 */
const derivedMembers = (node, { declared }) => {
  const [heritage] = (node.declaration ?? node).extends ?? []
  const kind = heritage?.expression.name
  if (!derivations.includes(kind)) return undefined
  const [constant] = declared.get(heritage.typeArguments.params[0].exprName.name) ?? []
  /** @type {Node[]} */
  const fields = constant?.declarations[0].id.typeAnnotation.typeAnnotation.members
  return fields
    .map((field) => ({ field, type: field.typeAnnotation.typeAnnotation }))
    .filter(({ type }) =>
      kind === 'InputOf'
        ? hasOption(type, 'input')
        : kind === 'RecordOf' || !hasOption(type, 'place'),
    )
    .map(({ field, type }) => ({ field, value: valueIn(type), isOptional: kind === 'InputOf' }))
}

/**
 * Returns whether the type of a field has an option, such as `Field<string> & { readonly initial: '' }`.
 * @param {Node} type
 * @param {string} name
 */
const hasOption = (type, name) =>
  (type.types ?? []).some((/** @type {Node} */ part) =>
    part.members?.some((/** @type {Node} */ { key }) => key.name === name),
  )

/**
 * @param {Node} type the type of a field, such as `Field<string, string>`
 * @returns {Node}
 */
const valueIn = (type) =>
  type.type === 'TSIntersectionType'
    ? valueIn(type.types[0])
    : (type.typeArguments?.params[0] ?? type)

/**
 * @param {string} text
 * @returns {(member: { field: Node, value: Node, isOptional: boolean }) => string}
 */
const memberText =
  (text) =>
  ({ field, value, isOptional }) => {
    const before = text.slice(0, field.start).trimEnd()
    const comment = before.endsWith('*/') ? `  ${before.slice(before.lastIndexOf('/**'))}\n` : ''
    const code = `  readonly ${field.key.name}${isOptional ? '?' : ''}: ${text.slice(value.start, value.end)};`
    return `${comment.replaceAll('\n    ', '\n  ')}${code}`
  }

// Omit these constructors, because only this package creates the objects.
const internalConstructor = /^ *constructor\([^)]*\b(?:RecordsContext|Transients)\b[^)]*\);\n/gm

/** @param {string} code */
const withoutKeywords = (code) =>
  code
    .replace(/^export /, '')
    .replace(/^declare /, '')
    .replaceAll(/^ *#private;\n/gm, '')
    .replaceAll(internalConstructor, '')
    .replaceAll('    ', '  ')
    .trim()

/**
 * Returns the members of a class or interface, and their docstrings.
 * @param {Node} node
 * @param {string} text
 */
const membersOf = (node, text) =>
  /** @type {Node[]} */ ((node.declaration ?? node).body?.body ?? []).flatMap((member) => {
    const name = member.key?.name ?? member.key?.value
    const isMethod = /Method/.test(member.type) && member.kind !== 'constructor'
    return isMethod && name !== undefined
      ? [{ name, docstring: docstringBefore(text, member.start) }]
      : []
  })

/**
 * Returns the text of the docstring that ends directly before a position; empty without a docstring.
 * @param {string} text
 * @param {number} start
 */
const docstringBefore = (text, start) => {
  const before = text.slice(0, start).trimEnd()
  if (!before.endsWith('*/')) return ''
  return before
    .slice(before.lastIndexOf('/**') + 3, -2)
    .split('\n')
    .map((line) => line.replace(/^\s*\* ?/, '').trimEnd())
    .join('\n')
    .trim()
}

const head = `# The code API

<!-- Written by \`npm run reference\` from the built declarations and scripts/api-reference.js. Do not edit it by hand. -->

Every export of each entry point, and the types that the exports refer to. Times are in milliseconds since the epoch and durations
in seconds, unless the description says otherwise. A member that is not listed here is internal, and may change in any version.

`

/** Returns the text of docs/reference/api.md. */
export const apiReference = () => {
  const all = publicDeclarations()
  const entries = [...new Set(all.map(({ entry }) => entry))].filter((entry) => entry !== undefined)
  const sections = entries.map((entry) => section(`\`${entry}\``, all, entry))
  return `${head}${sections.join('')}${section('Types that the exports refer to', all, undefined)}`.replace(
    /\n+$/,
    '\n',
  )
}

/**
 * @param {string} title
 * @param {readonly Declaration[]} all
 * @param {string | undefined} entry
 */
const section = (title, all, entry) => {
  const own = all.filter((one) => one.entry === entry).toSorted(byName)
  return `## ${title}\n\n${own.map(shown).join('')}`
}

/**
 * @param {Declaration} a
 * @param {Declaration} b
 */
const byName = (a, b) => (a.name + a.file < b.name + b.file ? -1 : 1)

/** @param {Declaration} declaration */
const shown = ({ name, docstring, code }) => {
  const text = docstring === '' ? '' : `${paragraphs(docstring)}\n\n`
  return `### \`${name}\`\n\n${text}${code === '' ? '' : `\`\`\`ts\n${code}\n\`\`\`\n\n`}`
}

/**
 * Converts the tags of a docstring to list items.
 * @param {string} docstring
 */
const paragraphs = (docstring) => {
  const [text = '', ...tags] = docstring.split(/(?:^|\s)@(?=(?:param|returns|throws)\b)/)
  const items = tags.map((tag) => {
    const [kind = '', ...words] = tag.split(/\s+/).filter((word) => word !== '')
    if (kind !== 'param') return `- ${kind === 'returns' ? 'Returns' : 'Throws'} ${words.join(' ')}`
    const [parameter = '', ...meaning] = words
    return `- \`${parameter}\`: ${meaning.join(' ')}`
  })
  return [text.trim(), items.join('\n')].filter((part) => part !== '').join('\n\n')
}
