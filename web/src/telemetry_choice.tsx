// The choice of a table in a form. The element is given no value, because drawing the page again,
// which happens every few seconds, would undo what the user has chosen but not sent yet. A link may
// name a table that no store has, which is offered too.

interface Props {
  names: string[];
  value: string;
  none?: string; // the text of an empty choice
  onChoose?: (name: string) => void;
}

export function TableChoice({ names, value, none, onChoose }: Props) {
  const offered = value === '' || names.includes(value) ? names : [...names, value];
  return <label class="field">Table <select name="table" onChange={(event) => onChoose?.(event.currentTarget.value)}>
    {none !== undefined && <option value="" selected={value === ''}>{none}</option>}
    {offered.map((name) => <option key={name} value={name} selected={name === value}>{name}</option>)}
  </select></label>;
}
