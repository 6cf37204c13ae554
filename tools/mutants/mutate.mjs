// Finds every small change of a source file that a good test should notice.
import { parseSync } from 'oxc-parser';

/**
 * @typedef {{ path: string, start: number, end: number, line: number, from: string, to: string }} Mutant
 */

const operators = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '+': '-',
  '-': '+',
  '*': '/',
  '/': '*',
  '%': '*',
  '&': '|',
  '|': '&',
  '<<': '>>',
  '>>': '<<',
  '>>>': '<<',
  '&&': '||',
  '||': '&&',
  '??': '&&',
  '+=': '-=',
  '-=': '+=',
  '*=': '/=',
};
const opposites = {
  min: 'max',
  max: 'min',
  ceil: 'floor',
  floor: 'ceil',
  some: 'every',
  every: 'some',
  startsWith: 'endsWith',
  endsWith: 'startsWith',
};
/** Nodes without an effect at run time. */
const silent =
  /^(TS(?!AsExpression|NonNullExpression|SatisfiesExpression)|ImportDeclaration|ExportAllDeclaration)/;

/** The changes of one node, as [start, end, text]. */
function changesOf(node, text) {
  const between = (one, other, operator, to) => {
    const at = text.indexOf(operator, one.end);
    return at >= 0 && at < other.start ? [[at, at + operator.length, to]] : [];
  };
  switch (node.type) {
    case 'BinaryExpression':
    case 'LogicalExpression':
    case 'AssignmentExpression': {
      const to = operators[node.operator];
      return to ? between(node.left, node.right, node.operator, to) : [];
    }
    case 'IfStatement':
    case 'ConditionalExpression':
      return [
        [node.test.start, node.test.end, 'true'],
        [node.test.start, node.test.end, 'false'],
      ];
    case 'UnaryExpression':
      return ['!', '-'].includes(node.operator) ? [[node.start, node.start + 1, '']] : [];
    case 'UpdateExpression': {
      const other = node.operator === '++' ? '--' : '++';
      const at = node.prefix ? node.start : node.end - 2;
      return [[at, at + 2, other]];
    }
    case 'Literal':
      if (typeof node.value === 'number') return [[node.start, node.end, `(${node.raw} + 1)`]];
      if (typeof node.value === 'bigint') return [[node.start, node.end, `(${node.raw} + 1n)`]];
      if (typeof node.value === 'boolean') return [[node.start, node.end, String(!node.value)]];
      return typeof node.value === 'string' && node.value !== '' ? [[node.start, node.end, "''"]] : [];
    case 'MemberExpression': {
      const to = node.computed ? undefined : opposites[node.property.name];
      return to ? [[node.property.start, node.property.end, to]] : [];
    }
    case 'ExpressionStatement':
      return node.expression.type === 'CallExpression' ? [[node.start, node.end, ';']] : [];
    default:
      return [];
  }
}

/**
 * @param {string} path for the parser and the report.
 * @param {string} text TypeScript.
 * @returns {Mutant[]} in the order of the text.
 */
export function mutantsOf(path, text) {
  const { program, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0].message}`);
  const found = [];
  const visit = (node) => {
    if (Array.isArray(node)) {
      for (const one of node) visit(one);
      return;
    }
    if (typeof node?.type !== 'string' || silent.test(node.type)) return;
    for (const [start, end, to] of changesOf(node, text)) {
      const line = text.slice(0, start).split('\n').length;
      found.push({ path, start, end, line, from: text.slice(start, end), to });
    }
    for (const [name, value] of Object.entries(node)) {
      if (
        value !== null &&
        typeof value === 'object' &&
        !/^type(Annotation|Arguments|Parameters)$|^returnType$/.test(name)
      ) {
        visit(value);
      }
    }
  };
  visit(program.body);
  return found.sort((one, other) => one.start - other.start || one.to.localeCompare(other.to));
}

/** @returns {Mutant[]} `count` of them, the same ones for the same seed. */
export function draw(mutants, seed, count) {
  let state = seed >>> 0;
  // mulberry32
  const random = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const left = [...mutants];
  return Array.from({ length: Math.min(count, left.length) }, () => {
    const [one] = left.splice(Math.floor(random() * left.length), 1);
    return one;
  });
}
