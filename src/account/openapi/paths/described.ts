import type { Operations } from '../../../protocol/plug-ins/operation.ts'

export type Described = Readonly<Record<string, Operations>>
