/** What is wrong with a control that is no text box; the control names it by its id. */
export function FieldFault({ id, children }: { id: string; children: string }) {
  return (
    <p id={id} role="alert" className="text-[0.8125rem] text-bad leading-5">
      {children}
    </p>
  );
}
