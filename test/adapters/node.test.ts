import { describeAdapter } from './embed.ts'
import { nodeHost } from './hosts/node.ts'

describeAdapter('node:http', nodeHost)
