import { join } from 'node:path'

/** One command: the program and its arguments. */
export type Command = readonly [string, ...string[]]

/** The programs of one language, and how they are built. */
export interface Language {
  readonly name: string
  /** Commands that succeed only if the toolchain is installed. */
  readonly needs: readonly Command[]
  /** Builds the programs; packages and results belong in `out`, outside of the repository. */
  build(out: string): readonly Command[]
  /** One command per library. */
  run(out: string): readonly Command[]
}

/** The languages in the order of their runs. */
export const languages: readonly Language[] = [
  {
    name: 'go',
    needs: [['go', 'version']],
    build: (out) => [['go', 'build', '-mod=mod', '-o', join(out, 'clients'), '.']],
    run: (out) => [[join(out, 'clients')]],
  },
  {
    name: 'python',
    needs: [['python3', '-c', 'import venv, ensurepip']],
    build: (out) => [
      ['python3', '-m', 'venv', join(out, 'venv')],
      [join(out, 'venv/bin/pip'), 'install', '-q', '-r', 'requirements.txt'],
    ],
    run: (out) => [[join(out, 'venv/bin/python'), '-B', 'main.py']],
  },
  {
    name: 'java',
    needs: [
      ['mvn', '-v'],
      ['javac', '-version'],
    ],
    build: (out) => [['mvn', '-q', '-B', `-DbuildDirectory=${out}`, 'package']],
    run: (out) => [
      ['java', '-cp', `${join(out, 'classes')}:${join(out, 'dependency/*')}`, 'clients.Main'],
    ],
  },
  {
    name: 'rust',
    needs: [['cargo', '--version']],
    build: (out) => [['cargo', 'build', '-q', '--target-dir', join(out, 'target')]],
    run: (out) => [[join(out, 'target/debug/clients')]],
  },
]
